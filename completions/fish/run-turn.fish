# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_turn_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_turn_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_turn_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_turn_using_subcommand
    set -l cmd (__fish_run_turn_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-turn -n "__fish_run_turn_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-turn -n "__fish_run_turn_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-turn -n "__fish_run_turn_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-turn -n "__fish_run_turn_needs_command" -s h -l help -d 'Print help'
complete -c run-turn -n "__fish_run_turn_needs_command" -s V -l version -d 'Print version'
complete -c run-turn -n "__fish_run_turn_needs_command" -f -a "write" -d 'Write a turn, and the conversation up to then'
complete -c run-turn -n "__fish_run_turn_needs_command" -f -a "read" -d 'Print a turn, or its conversation'
complete -c run-turn -n "__fish_run_turn_needs_command" -f -a "latest" -d 'Print the latest turn of a node, or its conversation'
complete -c run-turn -n "__fish_run_turn_needs_command" -f -a "list" -d 'List turns'
complete -c run-turn -n "__fish_run_turn_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-turn -n "__fish_run_turn_using_subcommand write" -l messages -d 'The conversation, a JSON value; @FILE reads it from a file, - from standard input' -r
complete -c run-turn -n "__fish_run_turn_using_subcommand write" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-turn -n "__fish_run_turn_using_subcommand write" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-turn -n "__fish_run_turn_using_subcommand write" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-turn -n "__fish_run_turn_using_subcommand write" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-turn -n "__fish_run_turn_using_subcommand write" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-turn -n "__fish_run_turn_using_subcommand write" -s v -l verbose -d 'Say more on standard error'
complete -c run-turn -n "__fish_run_turn_using_subcommand write" -s h -l help -d 'Print help'
complete -c run-turn -n "__fish_run_turn_using_subcommand read" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-turn -n "__fish_run_turn_using_subcommand read" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-turn -n "__fish_run_turn_using_subcommand read" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-turn -n "__fish_run_turn_using_subcommand read" -l messages -d 'The conversation, as it is stored'
complete -c run-turn -n "__fish_run_turn_using_subcommand read" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-turn -n "__fish_run_turn_using_subcommand read" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-turn -n "__fish_run_turn_using_subcommand read" -s v -l verbose -d 'Say more on standard error'
complete -c run-turn -n "__fish_run_turn_using_subcommand read" -s h -l help -d 'Print help'
complete -c run-turn -n "__fish_run_turn_using_subcommand latest" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-turn -n "__fish_run_turn_using_subcommand latest" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-turn -n "__fish_run_turn_using_subcommand latest" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-turn -n "__fish_run_turn_using_subcommand latest" -l messages -d 'The conversation, as it is stored'
complete -c run-turn -n "__fish_run_turn_using_subcommand latest" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-turn -n "__fish_run_turn_using_subcommand latest" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-turn -n "__fish_run_turn_using_subcommand latest" -s v -l verbose -d 'Say more on standard error'
complete -c run-turn -n "__fish_run_turn_using_subcommand latest" -s h -l help -d 'Print help'
complete -c run-turn -n "__fish_run_turn_using_subcommand list" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-turn -n "__fish_run_turn_using_subcommand list" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-turn -n "__fish_run_turn_using_subcommand list" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-turn -n "__fish_run_turn_using_subcommand list" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-turn -n "__fish_run_turn_using_subcommand list" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-turn -n "__fish_run_turn_using_subcommand list" -s v -l verbose -d 'Say more on standard error'
complete -c run-turn -n "__fish_run_turn_using_subcommand list" -s h -l help -d 'Print help'
complete -c run-turn -n "__fish_run_turn_using_subcommand help; and not __fish_seen_subcommand_from write read latest list help" -f -a "write" -d 'Write a turn, and the conversation up to then'
complete -c run-turn -n "__fish_run_turn_using_subcommand help; and not __fish_seen_subcommand_from write read latest list help" -f -a "read" -d 'Print a turn, or its conversation'
complete -c run-turn -n "__fish_run_turn_using_subcommand help; and not __fish_seen_subcommand_from write read latest list help" -f -a "latest" -d 'Print the latest turn of a node, or its conversation'
complete -c run-turn -n "__fish_run_turn_using_subcommand help; and not __fish_seen_subcommand_from write read latest list help" -f -a "list" -d 'List turns'
complete -c run-turn -n "__fish_run_turn_using_subcommand help; and not __fish_seen_subcommand_from write read latest list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
