# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_message_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_message_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_message_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_message_using_subcommand
    set -l cmd (__fish_run_message_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-message -n "__fish_run_message_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-message -n "__fish_run_message_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-message -n "__fish_run_message_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-message -n "__fish_run_message_needs_command" -s h -l help -d 'Print help'
complete -c run-message -n "__fish_run_message_needs_command" -s V -l version -d 'Print version'
complete -c run-message -n "__fish_run_message_needs_command" -f -a "queue" -d 'Send a message'
complete -c run-message -n "__fish_run_message_needs_command" -f -a "queue-once" -d 'Send a message unless its id was ever seen'
complete -c run-message -n "__fish_run_message_needs_command" -f -a "deliver" -d 'Say that an agent has been given a message'
complete -c run-message -n "__fish_run_message_needs_command" -f -a "consume" -d 'Say that an agent has taken in a message that was delivered'
complete -c run-message -n "__fish_run_message_needs_command" -f -a "cancel" -d 'Take a message back that was not delivered yet'
complete -c run-message -n "__fish_run_message_needs_command" -f -a "pending" -d 'List the messages that wait'
complete -c run-message -n "__fish_run_message_needs_command" -f -a "list" -d 'List all messages with their states'
complete -c run-message -n "__fish_run_message_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l id -d 'The id [default: one that nobody has]' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l node -d 'For one node only' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l skill -d 'A skill that it refers to, as often as you like' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l interaction -d 'The interaction that it is about' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l tenant -d 'The tenant' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l no-event -d 'Append no event'
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-message -n "__fish_run_message_using_subcommand queue" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-message -n "__fish_run_message_using_subcommand queue" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-message -n "__fish_run_message_using_subcommand queue" -s v -l verbose -d 'Say more on standard error'
complete -c run-message -n "__fish_run_message_using_subcommand queue" -s h -l help -d 'Print help'
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l node -d 'For one node only' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l skill -d 'A skill that it refers to, as often as you like' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l interaction -d 'The interaction that it is about' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l tenant -d 'The tenant' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l no-event -d 'Append no event'
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -s v -l verbose -d 'Say more on standard error'
complete -c run-message -n "__fish_run_message_using_subcommand queue-once" -s h -l help -d 'Print help'
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -l no-event -d 'Append no event'
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -s v -l verbose -d 'Say more on standard error'
complete -c run-message -n "__fish_run_message_using_subcommand deliver" -s h -l help -d 'Print help'
complete -c run-message -n "__fish_run_message_using_subcommand consume" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand consume" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand consume" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-message -n "__fish_run_message_using_subcommand consume" -l no-event -d 'Append no event'
complete -c run-message -n "__fish_run_message_using_subcommand consume" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-message -n "__fish_run_message_using_subcommand consume" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-message -n "__fish_run_message_using_subcommand consume" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-message -n "__fish_run_message_using_subcommand consume" -s v -l verbose -d 'Say more on standard error'
complete -c run-message -n "__fish_run_message_using_subcommand consume" -s h -l help -d 'Print help'
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -l no-event -d 'Append no event'
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -s v -l verbose -d 'Say more on standard error'
complete -c run-message -n "__fish_run_message_using_subcommand cancel" -s h -l help -d 'Print help'
complete -c run-message -n "__fish_run_message_using_subcommand pending" -l node -d 'Those for the run, and those for this node [default: all]' -r
complete -c run-message -n "__fish_run_message_using_subcommand pending" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand pending" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand pending" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-message -n "__fish_run_message_using_subcommand pending" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-message -n "__fish_run_message_using_subcommand pending" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-message -n "__fish_run_message_using_subcommand pending" -s v -l verbose -d 'Say more on standard error'
complete -c run-message -n "__fish_run_message_using_subcommand pending" -s h -l help -d 'Print help'
complete -c run-message -n "__fish_run_message_using_subcommand list" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand list" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-message -n "__fish_run_message_using_subcommand list" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-message -n "__fish_run_message_using_subcommand list" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-message -n "__fish_run_message_using_subcommand list" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-message -n "__fish_run_message_using_subcommand list" -s v -l verbose -d 'Say more on standard error'
complete -c run-message -n "__fish_run_message_using_subcommand list" -s h -l help -d 'Print help'
complete -c run-message -n "__fish_run_message_using_subcommand help; and not __fish_seen_subcommand_from queue queue-once deliver consume cancel pending list help" -f -a "queue" -d 'Send a message'
complete -c run-message -n "__fish_run_message_using_subcommand help; and not __fish_seen_subcommand_from queue queue-once deliver consume cancel pending list help" -f -a "queue-once" -d 'Send a message unless its id was ever seen'
complete -c run-message -n "__fish_run_message_using_subcommand help; and not __fish_seen_subcommand_from queue queue-once deliver consume cancel pending list help" -f -a "deliver" -d 'Say that an agent has been given a message'
complete -c run-message -n "__fish_run_message_using_subcommand help; and not __fish_seen_subcommand_from queue queue-once deliver consume cancel pending list help" -f -a "consume" -d 'Say that an agent has taken in a message that was delivered'
complete -c run-message -n "__fish_run_message_using_subcommand help; and not __fish_seen_subcommand_from queue queue-once deliver consume cancel pending list help" -f -a "cancel" -d 'Take a message back that was not delivered yet'
complete -c run-message -n "__fish_run_message_using_subcommand help; and not __fish_seen_subcommand_from queue queue-once deliver consume cancel pending list help" -f -a "pending" -d 'List the messages that wait'
complete -c run-message -n "__fish_run_message_using_subcommand help; and not __fish_seen_subcommand_from queue queue-once deliver consume cancel pending list help" -f -a "list" -d 'List all messages with their states'
complete -c run-message -n "__fish_run_message_using_subcommand help; and not __fish_seen_subcommand_from queue queue-once deliver consume cancel pending list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
