# The plain answers as a bare Rack application.
require "json"

def answer(status, type, body)
  # without its length, thin would close the connection after it
  [status, { "Content-Type" => type, "Content-Length" => body.bytesize.to_s }, [body]]
end

app = lambda do |env|
  case env["PATH_INFO"]
  when "/" then answer(200, "text/plain; charset=utf-8", "Hello, World!")
  when "/json" then answer(200, "application/json", JSON.generate(message: "Hello, World!"))
  else answer(404, "text/plain; charset=utf-8", "not found")
  end
end

run app
