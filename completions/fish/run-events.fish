# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_events_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_events_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_events_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_events_using_subcommand
    set -l cmd (__fish_run_events_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-events -n "__fish_run_events_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-events -n "__fish_run_events_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-events -n "__fish_run_events_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-events -n "__fish_run_events_needs_command" -s h -l help -d 'Print help'
complete -c run-events -n "__fish_run_events_needs_command" -s V -l version -d 'Print version'
complete -c run-events -n "__fish_run_events_needs_command" -f -a "append" -d 'Append one event from options, or many from standard input'
complete -c run-events -n "__fish_run_events_needs_command" -f -a "cat" -d 'Print events'
complete -c run-events -n "__fish_run_events_needs_command" -f -a "tail" -d 'Print the last events, and those that come'
complete -c run-events -n "__fish_run_events_needs_command" -f -a "check" -d 'Name every damage of the log'
complete -c run-events -n "__fish_run_events_needs_command" -f -a "fold" -d 'Reduce the log to what it says about one thing'
complete -c run-events -n "__fish_run_events_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-events -n "__fish_run_events_using_subcommand append" -l type -d 'The type of the one event' -r
complete -c run-events -n "__fish_run_events_using_subcommand append" -l node -d 'The node it is about' -r
complete -c run-events -n "__fish_run_events_using_subcommand append" -l branch -d 'The branch it happened in' -r
complete -c run-events -n "__fish_run_events_using_subcommand append" -l data -d 'Its data, a JSON object; @FILE reads it from a file, - from standard input' -r
complete -c run-events -n "__fish_run_events_using_subcommand append" -l active-ms -d 'How long the run has been active, in milliseconds' -r
complete -c run-events -n "__fish_run_events_using_subcommand append" -l fsync -d 'When events are flushed to the disk [default: batch; off with WT_FSYNC=off]' -r -f -a "always\t''
batch\t''
off\t''"
complete -c run-events -n "__fish_run_events_using_subcommand append" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand append" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand append" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-events -n "__fish_run_events_using_subcommand append" -l stdin -d 'Read events from standard input, a JSON object a line, and acknowledge each'
complete -c run-events -n "__fish_run_events_using_subcommand append" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-events -n "__fish_run_events_using_subcommand append" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-events -n "__fish_run_events_using_subcommand append" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-events -n "__fish_run_events_using_subcommand append" -s v -l verbose -d 'Say more on standard error'
complete -c run-events -n "__fish_run_events_using_subcommand append" -s h -l help -d 'Print help'
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l from -d 'Events with this number or a higher one' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l to -d 'Events below this number' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l type -d 'Events of a type; * and ? match anything (repeatable)' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l node -d 'Events of a node (repeatable)' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l branch -d 'Events of a branch; main is also what has no branch (repeatable)' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l since -d 'Events since a time, 2026-01-31T12:00:00Z or 15m' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l last -d 'The last so many of those selected' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l limit -d 'The first so many of those selected' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l format -d 'Fill in a template: \'{seq} {time} {type} {node} {data.KEY}\'' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l color -d 'Colours in the form for a person [default: auto]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c run-events -n "__fish_run_events_using_subcommand cat" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l human -d 'One line an event for a person, as on a terminal'
complete -c run-events -n "__fish_run_events_using_subcommand cat" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-events -n "__fish_run_events_using_subcommand cat" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-events -n "__fish_run_events_using_subcommand cat" -s v -l verbose -d 'Say more on standard error'
complete -c run-events -n "__fish_run_events_using_subcommand cat" -s h -l help -d 'Print help'
complete -c run-events -n "__fish_run_events_using_subcommand tail" -s n -l lines -d 'Begin with the last so many [default: 10, or all with --from]' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l from -d 'Events with this number or a higher one' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l to -d 'Events below this number' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l type -d 'Events of a type; * and ? match anything (repeatable)' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l node -d 'Events of a node (repeatable)' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l branch -d 'Events of a branch; main is also what has no branch (repeatable)' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l since -d 'Events since a time, 2026-01-31T12:00:00Z or 15m' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l format -d 'Fill in a template: \'{seq} {time} {type} {node} {data.KEY}\'' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l color -d 'Colours in the form for a person [default: auto]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c run-events -n "__fish_run_events_using_subcommand tail" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-events -n "__fish_run_events_using_subcommand tail" -s f -l follow -d 'Wait for more'
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l until-done -d 'Wait for more until the run has finished, failed or been cancelled, by an event or its document'
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l human -d 'One line an event for a person, as on a terminal'
complete -c run-events -n "__fish_run_events_using_subcommand tail" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-events -n "__fish_run_events_using_subcommand tail" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-events -n "__fish_run_events_using_subcommand tail" -s v -l verbose -d 'Say more on standard error'
complete -c run-events -n "__fish_run_events_using_subcommand tail" -s h -l help -d 'Print help'
complete -c run-events -n "__fish_run_events_using_subcommand check" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand check" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand check" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-events -n "__fish_run_events_using_subcommand check" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-events -n "__fish_run_events_using_subcommand check" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-events -n "__fish_run_events_using_subcommand check" -s v -l verbose -d 'Say more on standard error'
complete -c run-events -n "__fish_run_events_using_subcommand check" -s h -l help -d 'Print help'
complete -c run-events -n "__fish_run_events_using_subcommand fold" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand fold" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-events -n "__fish_run_events_using_subcommand fold" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-events -n "__fish_run_events_using_subcommand fold" -l stdin -d 'Read events from standard input instead of a run\'s log'
complete -c run-events -n "__fish_run_events_using_subcommand fold" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-events -n "__fish_run_events_using_subcommand fold" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-events -n "__fish_run_events_using_subcommand fold" -s v -l verbose -d 'Say more on standard error'
complete -c run-events -n "__fish_run_events_using_subcommand fold" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c run-events -n "__fish_run_events_using_subcommand help; and not __fish_seen_subcommand_from append cat tail check fold help" -f -a "append" -d 'Append one event from options, or many from standard input'
complete -c run-events -n "__fish_run_events_using_subcommand help; and not __fish_seen_subcommand_from append cat tail check fold help" -f -a "cat" -d 'Print events'
complete -c run-events -n "__fish_run_events_using_subcommand help; and not __fish_seen_subcommand_from append cat tail check fold help" -f -a "tail" -d 'Print the last events, and those that come'
complete -c run-events -n "__fish_run_events_using_subcommand help; and not __fish_seen_subcommand_from append cat tail check fold help" -f -a "check" -d 'Name every damage of the log'
complete -c run-events -n "__fish_run_events_using_subcommand help; and not __fish_seen_subcommand_from append cat tail check fold help" -f -a "fold" -d 'Reduce the log to what it says about one thing'
complete -c run-events -n "__fish_run_events_using_subcommand help; and not __fish_seen_subcommand_from append cat tail check fold help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
