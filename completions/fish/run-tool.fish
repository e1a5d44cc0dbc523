# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_tool_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_tool_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_tool_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_tool_using_subcommand
    set -l cmd (__fish_run_tool_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-tool -n "__fish_run_tool_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-tool -n "__fish_run_tool_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-tool -n "__fish_run_tool_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-tool -n "__fish_run_tool_needs_command" -s h -l help -d 'Print help'
complete -c run-tool -n "__fish_run_tool_needs_command" -s V -l version -d 'Print version'
complete -c run-tool -n "__fish_run_tool_needs_command" -f -a "put" -d 'Store a body from standard input, and print what the event is to say of it'
complete -c run-tool -n "__fish_run_tool_needs_command" -f -a "get" -d 'Give out a stored body, or part of it'
complete -c run-tool -n "__fish_run_tool_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-tool -n "__fish_run_tool_using_subcommand put" -l threshold -d 'Content up to this many bytes stays in the event' -r
complete -c run-tool -n "__fish_run_tool_using_subcommand put" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-tool -n "__fish_run_tool_using_subcommand put" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-tool -n "__fish_run_tool_using_subcommand put" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-tool -n "__fish_run_tool_using_subcommand put" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-tool -n "__fish_run_tool_using_subcommand put" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-tool -n "__fish_run_tool_using_subcommand put" -s v -l verbose -d 'Say more on standard error'
complete -c run-tool -n "__fish_run_tool_using_subcommand put" -s h -l help -d 'Print help'
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -l offset -d 'Begin so many bytes behind its start; a negative number counts as 0' -r
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -l limit -d 'Give out so many bytes at most; 0 is all of them' -r
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -l size -d 'Say how long it is, and whether the part reaches its end, instead of giving it out'
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -s v -l verbose -d 'Say more on standard error'
complete -c run-tool -n "__fish_run_tool_using_subcommand get" -s h -l help -d 'Print help'
complete -c run-tool -n "__fish_run_tool_using_subcommand help; and not __fish_seen_subcommand_from put get help" -f -a "put" -d 'Store a body from standard input, and print what the event is to say of it'
complete -c run-tool -n "__fish_run_tool_using_subcommand help; and not __fish_seen_subcommand_from put get help" -f -a "get" -d 'Give out a stored body, or part of it'
complete -c run-tool -n "__fish_run_tool_using_subcommand help; and not __fish_seen_subcommand_from put get help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
