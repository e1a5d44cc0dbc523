# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_log_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_log_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_log_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_log_using_subcommand
    set -l cmd (__fish_run_log_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-log -n "__fish_run_log_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-log -n "__fish_run_log_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-log -n "__fish_run_log_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-log -n "__fish_run_log_needs_command" -s h -l help -d 'Print help'
complete -c run-log -n "__fish_run_log_needs_command" -s V -l version -d 'Print version'
complete -c run-log -n "__fish_run_log_needs_command" -f -a "append" -d 'Append standard input, or write it at an offset'
complete -c run-log -n "__fish_run_log_needs_command" -f -a "read" -d 'Print a range of the log'
complete -c run-log -n "__fish_run_log_needs_command" -f -a "follow" -d 'Print the log, and what comes'
complete -c run-log -n "__fish_run_log_needs_command" -f -a "size" -d 'Print the length of the log in bytes'
complete -c run-log -n "__fish_run_log_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-log -n "__fish_run_log_using_subcommand append" -l offset -d 'Write at this byte of the log; what is there already must be the same' -r
complete -c run-log -n "__fish_run_log_using_subcommand append" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-log -n "__fish_run_log_using_subcommand append" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-log -n "__fish_run_log_using_subcommand append" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-log -n "__fish_run_log_using_subcommand append" -l overwrite -d 'With --offset: write over bytes that differ'
complete -c run-log -n "__fish_run_log_using_subcommand append" -l allow-gap -d 'With --offset: begin behind the end, and leave NUL bytes between'
complete -c run-log -n "__fish_run_log_using_subcommand append" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-log -n "__fish_run_log_using_subcommand append" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-log -n "__fish_run_log_using_subcommand append" -s v -l verbose -d 'Say more on standard error'
complete -c run-log -n "__fish_run_log_using_subcommand append" -s h -l help -d 'Print help'
complete -c run-log -n "__fish_run_log_using_subcommand read" -l from -d 'The first byte' -r
complete -c run-log -n "__fish_run_log_using_subcommand read" -l until -d 'The first byte that is not wanted; 0 is the end' -r
complete -c run-log -n "__fish_run_log_using_subcommand read" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-log -n "__fish_run_log_using_subcommand read" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-log -n "__fish_run_log_using_subcommand read" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-log -n "__fish_run_log_using_subcommand read" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-log -n "__fish_run_log_using_subcommand read" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-log -n "__fish_run_log_using_subcommand read" -s v -l verbose -d 'Say more on standard error'
complete -c run-log -n "__fish_run_log_using_subcommand read" -s h -l help -d 'Print help'
complete -c run-log -n "__fish_run_log_using_subcommand follow" -l from -d 'The first byte' -r
complete -c run-log -n "__fish_run_log_using_subcommand follow" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-log -n "__fish_run_log_using_subcommand follow" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-log -n "__fish_run_log_using_subcommand follow" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-log -n "__fish_run_log_using_subcommand follow" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-log -n "__fish_run_log_using_subcommand follow" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-log -n "__fish_run_log_using_subcommand follow" -s v -l verbose -d 'Say more on standard error'
complete -c run-log -n "__fish_run_log_using_subcommand follow" -s h -l help -d 'Print help'
complete -c run-log -n "__fish_run_log_using_subcommand size" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-log -n "__fish_run_log_using_subcommand size" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-log -n "__fish_run_log_using_subcommand size" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-log -n "__fish_run_log_using_subcommand size" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-log -n "__fish_run_log_using_subcommand size" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-log -n "__fish_run_log_using_subcommand size" -s v -l verbose -d 'Say more on standard error'
complete -c run-log -n "__fish_run_log_using_subcommand size" -s h -l help -d 'Print help'
complete -c run-log -n "__fish_run_log_using_subcommand help; and not __fish_seen_subcommand_from append read follow size help" -f -a "append" -d 'Append standard input, or write it at an offset'
complete -c run-log -n "__fish_run_log_using_subcommand help; and not __fish_seen_subcommand_from append read follow size help" -f -a "read" -d 'Print a range of the log'
complete -c run-log -n "__fish_run_log_using_subcommand help; and not __fish_seen_subcommand_from append read follow size help" -f -a "follow" -d 'Print the log, and what comes'
complete -c run-log -n "__fish_run_log_using_subcommand help; and not __fish_seen_subcommand_from append read follow size help" -f -a "size" -d 'Print the length of the log in bytes'
complete -c run-log -n "__fish_run_log_using_subcommand help; and not __fish_seen_subcommand_from append read follow size help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
