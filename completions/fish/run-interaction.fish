# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_interaction_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_interaction_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_interaction_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_interaction_using_subcommand
    set -l cmd (__fish_run_interaction_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-interaction -n "__fish_run_interaction_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -s h -l help -d 'Print help'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -s V -l version -d 'Print version'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -f -a "ask" -d 'Ask'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -f -a "answer" -d 'Answer; of many who answer one wins'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -f -a "turn" -d 'Append a turn of a conversation'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -f -a "retire" -d 'Retire a question: nobody wants an answer any more'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -f -a "show" -d 'Print an interaction'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -f -a "list" -d 'List interactions'
complete -c run-interaction -n "__fish_run_interaction_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l kind -d 'What becomes of the run meanwhile' -r -f -a "blocking\t''
async\t''
await\t''
recovery\t''"
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l id -d 'The id [default: RUN_NODE, or RUN_NODE_N in iteration N]' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l iteration -d 'The iteration of the node, for the id' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l tenant -d 'The tenant' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l no-event -d 'Append no event'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -s v -l verbose -d 'Say more on standard error'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand ask" -s h -l help -d 'Print help'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -l no-event -d 'Append no event'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -s v -l verbose -d 'Say more on standard error'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand answer" -s h -l help -d 'Print help'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l content -d 'What is said; @FILE reads it from a file, - from standard input' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l verdict -d 'What is decided, a JSON value; @FILE reads it from a file, - from standard input' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l expect -d 'Only if there are so many turns before it' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l reopen -d 'Take back the answer of an interaction that has one, so that it can be answered anew'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l no-event -d 'Append no event'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -s v -l verbose -d 'Say more on standard error'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand turn" -s h -l help -d 'Print help'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand retire" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand retire" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand retire" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand retire" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand retire" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand retire" -s v -l verbose -d 'Say more on standard error'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand retire" -s h -l help -d 'Print help'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand show" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand show" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand show" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand show" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand show" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand show" -s v -l verbose -d 'Say more on standard error'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand show" -s h -l help -d 'Print help'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -l node -d 'Only those of one node' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -l pending -d 'Only those that wait for an answer'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -l answered -d 'Only those that were answered'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -l async -d 'Only questions that do not stop the run'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -s v -l verbose -d 'Say more on standard error'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand list" -s h -l help -d 'Print help'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand help; and not __fish_seen_subcommand_from ask answer turn retire show list help" -f -a "ask" -d 'Ask'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand help; and not __fish_seen_subcommand_from ask answer turn retire show list help" -f -a "answer" -d 'Answer; of many who answer one wins'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand help; and not __fish_seen_subcommand_from ask answer turn retire show list help" -f -a "turn" -d 'Append a turn of a conversation'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand help; and not __fish_seen_subcommand_from ask answer turn retire show list help" -f -a "retire" -d 'Retire a question: nobody wants an answer any more'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand help; and not __fish_seen_subcommand_from ask answer turn retire show list help" -f -a "show" -d 'Print an interaction'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand help; and not __fish_seen_subcommand_from ask answer turn retire show list help" -f -a "list" -d 'List interactions'
complete -c run-interaction -n "__fish_run_interaction_using_subcommand help; and not __fish_seen_subcommand_from ask answer turn retire show list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
