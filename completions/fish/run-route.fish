# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_route_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_route_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_route_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_route_using_subcommand
    set -l cmd (__fish_run_route_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-route -n "__fish_run_route_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-route -n "__fish_run_route_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-route -n "__fish_run_route_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-route -n "__fish_run_route_needs_command" -s h -l help -d 'Print help'
complete -c run-route -n "__fish_run_route_needs_command" -s V -l version -d 'Print version'
complete -c run-route -n "__fish_run_route_needs_command" -f -a "claim" -d 'Claim an outcome of a run for a while'
complete -c run-route -n "__fish_run_route_needs_command" -f -a "finish" -d 'Say what came of a claim, and let it go'
complete -c run-route -n "__fish_run_route_needs_command" -f -a "list" -d 'List who claimed which outcome and what came of it, the newest first'
complete -c run-route -n "__fish_run_route_needs_command" -f -a "watermark" -d 'Print the watermark of the store, or set it once and for all'
complete -c run-route -n "__fish_run_route_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-route -n "__fish_run_route_using_subcommand claim" -l seq -d 'The outcome [default: the present one of the run]' -r
complete -c run-route -n "__fish_run_route_using_subcommand claim" -l owner -d 'Who claims it' -r
complete -c run-route -n "__fish_run_route_using_subcommand claim" -l lease -d 'How long nobody else may; s, m, h and d are understood' -r
complete -c run-route -n "__fish_run_route_using_subcommand claim" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-route -n "__fish_run_route_using_subcommand claim" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-route -n "__fish_run_route_using_subcommand claim" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-route -n "__fish_run_route_using_subcommand claim" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-route -n "__fish_run_route_using_subcommand claim" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-route -n "__fish_run_route_using_subcommand claim" -s v -l verbose -d 'Say more on standard error'
complete -c run-route -n "__fish_run_route_using_subcommand claim" -s h -l help -d 'Print help'
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l seq -d 'The outcome' -r
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l owner -d 'Who claimed it' -r
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l attempt -d 'Which attempt the claim was: attempts as claim printed it' -r
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l failed -d 'It was not done, and why: the outcome may be claimed again while attempts are left' -r
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l result -d 'What was done, a JSON object; @FILE reads it from a file, - from standard input' -r
complete -c run-route -n "__fish_run_route_using_subcommand finish" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l succeeded -d 'It was done: nobody claims the outcome again'
complete -c run-route -n "__fish_run_route_using_subcommand finish" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-route -n "__fish_run_route_using_subcommand finish" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-route -n "__fish_run_route_using_subcommand finish" -s v -l verbose -d 'Say more on standard error'
complete -c run-route -n "__fish_run_route_using_subcommand finish" -s h -l help -d 'Print help'
complete -c run-route -n "__fish_run_route_using_subcommand list" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-route -n "__fish_run_route_using_subcommand list" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-route -n "__fish_run_route_using_subcommand list" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-route -n "__fish_run_route_using_subcommand list" -l state -d 'Only those in one of these states' -r -f -a "claimed\t''
succeeded\t''
failed\t''"
complete -c run-route -n "__fish_run_route_using_subcommand list" -l limit -d 'Only the first N' -r
complete -c run-route -n "__fish_run_route_using_subcommand list" -l all -d 'Those of all runs of the store'
complete -c run-route -n "__fish_run_route_using_subcommand list" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-route -n "__fish_run_route_using_subcommand list" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-route -n "__fish_run_route_using_subcommand list" -s v -l verbose -d 'Say more on standard error'
complete -c run-route -n "__fish_run_route_using_subcommand list" -s h -l help -d 'Print help'
complete -c run-route -n "__fish_run_route_using_subcommand watermark" -l set -d 'Set it unless it is set: a time, or now' -r
complete -c run-route -n "__fish_run_route_using_subcommand watermark" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-route -n "__fish_run_route_using_subcommand watermark" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-route -n "__fish_run_route_using_subcommand watermark" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-route -n "__fish_run_route_using_subcommand watermark" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-route -n "__fish_run_route_using_subcommand watermark" -s v -l verbose -d 'Say more on standard error'
complete -c run-route -n "__fish_run_route_using_subcommand watermark" -s h -l help -d 'Print help'
complete -c run-route -n "__fish_run_route_using_subcommand help; and not __fish_seen_subcommand_from claim finish list watermark help" -f -a "claim" -d 'Claim an outcome of a run for a while'
complete -c run-route -n "__fish_run_route_using_subcommand help; and not __fish_seen_subcommand_from claim finish list watermark help" -f -a "finish" -d 'Say what came of a claim, and let it go'
complete -c run-route -n "__fish_run_route_using_subcommand help; and not __fish_seen_subcommand_from claim finish list watermark help" -f -a "list" -d 'List who claimed which outcome and what came of it, the newest first'
complete -c run-route -n "__fish_run_route_using_subcommand help; and not __fish_seen_subcommand_from claim finish list watermark help" -f -a "watermark" -d 'Print the watermark of the store, or set it once and for all'
complete -c run-route -n "__fish_run_route_using_subcommand help; and not __fish_seen_subcommand_from claim finish list watermark help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
