# server.rb HOST PORT: the plain answers by EventMachine alone. It is not a web server: of a request it reads the first
# line and whether the connection is to stay, and nothing else.
require "eventmachine"
require "json"
require "socket"

module Answers
  END_OF_HEAD = "\r\n\r\n".freeze

  def post_init
    @read = +""
  end

  def receive_data(data)
    @read << data
    while (length = @read.index(END_OF_HEAD))
      answer(@read.slice!(0, length + END_OF_HEAD.bytesize))
    end
  end

  def answer(head)
    _, path, version = head.split(nil, 4)
    status, type, body =
      case path
      when "/" then ["200 OK", "text/plain; charset=utf-8", "Hello, World!"]
      when "/json" then ["200 OK", "application/json", JSON.generate(message: "Hello, World!")]
      else ["404 Not Found", "text/plain; charset=utf-8", "not found"]
      end
    stays = version == "HTTP/1.1" ? !head.match?(/^connection: *close/i) : head.match?(/^connection: *keep-alive/i)
    send_data "HTTP/1.1 #{status}\r\nContent-Type: #{type}\r\nContent-Length: #{body.bytesize}\r\n" \
              "Connection: #{stays ? 'keep-alive' : 'close'}\r\n\r\n#{body}"
    close_connection_after_writing unless stays
  end
end

host, port = ARGV
EventMachine.epoll # select otherwise, with 1024 connections at most
EventMachine.set_descriptor_table_size(20_000)
EventMachine.run do
  listener = TCPServer.new(host, Integer(port))
  listener.listen(1024) # EventMachine's own has a backlog of 100
  EventMachine.attach_server(listener, Answers)
end
