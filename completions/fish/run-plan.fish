# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_plan_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_plan_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_plan_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_plan_using_subcommand
    set -l cmd (__fish_run_plan_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-plan -n "__fish_run_plan_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-plan -n "__fish_run_plan_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-plan -n "__fish_run_plan_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-plan -n "__fish_run_plan_needs_command" -s h -l help -d 'Print help'
complete -c run-plan -n "__fish_run_plan_needs_command" -s V -l version -d 'Print version'
complete -c run-plan -n "__fish_run_plan_needs_command" -f -a "write" -d 'Write a snapshot of todos unless they are those of the one before'
complete -c run-plan -n "__fish_run_plan_needs_command" -f -a "list" -d 'List the snapshots'
complete -c run-plan -n "__fish_run_plan_needs_command" -f -a "show" -d 'Print a snapshot'
complete -c run-plan -n "__fish_run_plan_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -l iteration -d 'The iteration of the node' -r
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -l tool -d 'The tool with which the plan was given' -r
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -l no-event -d 'Append no event'
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -s v -l verbose -d 'Say more on standard error'
complete -c run-plan -n "__fish_run_plan_using_subcommand write" -s h -l help -d 'Print help'
complete -c run-plan -n "__fish_run_plan_using_subcommand list" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-plan -n "__fish_run_plan_using_subcommand list" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-plan -n "__fish_run_plan_using_subcommand list" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-plan -n "__fish_run_plan_using_subcommand list" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-plan -n "__fish_run_plan_using_subcommand list" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-plan -n "__fish_run_plan_using_subcommand list" -s v -l verbose -d 'Say more on standard error'
complete -c run-plan -n "__fish_run_plan_using_subcommand list" -s h -l help -d 'Print help'
complete -c run-plan -n "__fish_run_plan_using_subcommand show" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-plan -n "__fish_run_plan_using_subcommand show" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-plan -n "__fish_run_plan_using_subcommand show" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-plan -n "__fish_run_plan_using_subcommand show" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-plan -n "__fish_run_plan_using_subcommand show" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-plan -n "__fish_run_plan_using_subcommand show" -s v -l verbose -d 'Say more on standard error'
complete -c run-plan -n "__fish_run_plan_using_subcommand show" -s h -l help -d 'Print help'
complete -c run-plan -n "__fish_run_plan_using_subcommand help; and not __fish_seen_subcommand_from write list show help" -f -a "write" -d 'Write a snapshot of todos unless they are those of the one before'
complete -c run-plan -n "__fish_run_plan_using_subcommand help; and not __fish_seen_subcommand_from write list show help" -f -a "list" -d 'List the snapshots'
complete -c run-plan -n "__fish_run_plan_using_subcommand help; and not __fish_seen_subcommand_from write list show help" -f -a "show" -d 'Print a snapshot'
complete -c run-plan -n "__fish_run_plan_using_subcommand help; and not __fish_seen_subcommand_from write list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
