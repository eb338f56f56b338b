# server.rb HOST PORT: the greeting by EventMachine with what evma_httpserver 0.2.1 does for a request, written anew: every
# header line is looked at, the variables of CGI are put into the environment, the answer has a status, its length and
# nothing else (52 bytes in all), and the connection is closed without a word about it.
require "eventmachine"

class Hello < EventMachine::Connection
  VARIABLES = %w[REQUEST_METHOD HTTP_COOKIE IF_NONE_MATCH CONTENT_TYPE PATH_INFO REQUEST_URI QUERY_STRING PROTOCOL].freeze
  OF_HEADERS = {
    "cookie" => "HTTP_COOKIE", "if-none-match" => "IF_NONE_MATCH", "content-type" => "CONTENT_TYPE"
  }.freeze

  def post_init
    @read = +""
    @lines = []
  end

  def receive_data(data)
    @read << data
    while (line = @read.slice!(/\A[^\n]*\n/))
      line.chomp!
      next @lines << line unless line.empty?
      next if @lines.empty? # blank lines before a request are passed over
      read_request
      process_http_request
    end
  end

  def process_http_request
    answer(200, "Hello World!")
  end

  private

  def read_request
    request, *headers = @lines
    @lines = []
    VARIABLES.each { |name| ENV.delete(name) }
    method, uri, protocol = request.split(" ", 3)
    path, query = uri.split("?", 2)
    ENV.update("REQUEST_METHOD" => method, "PATH_INFO" => path, "REQUEST_URI" => path,
               "QUERY_STRING" => query || "", "PROTOCOL" => protocol)
    headers.each do |header|
      name, value = header.split(/: */, 2)
      variable = OF_HEADERS[name.downcase]
      ENV[variable] = value if variable
    end
  end

  def answer(status, content)
    headers = { "Content-length" => content.bytesize }
    lines = headers.keys.sort.map { |name| "#{name}: #{headers[name]}\r\n" }
    send_data("HTTP/1.1 #{status} ...\r\n#{lines.join}\r\n")
    send_data(content)
    close_connection_after_writing
  end
end

host, port = ARGV
EventMachine.run { EventMachine.start_server(host, Integer(port), Hello) }
