# The talk of a client in Ruby with the test: the settings as an argument, then a line of JSON for each step.
require 'json'

SETTING = JSON.parse(ARGV.fetch(0))
$stdout.sync = true

def talk(url, steps)
  puts JSON.generate({ 'url' => url, 'steps' => steps.keys })
  while (line = $stdin.gets)
    step = JSON.parse(line)
    answer =
      begin
        { 'result' => steps.fetch(step['name']).call(step['argument']) }
      rescue StandardError => e
        { 'error' => "#{e.class}: #{e.message}" }
      end
    puts JSON.generate(answer)
  end
end
