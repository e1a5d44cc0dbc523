# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_artifact_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_artifact_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_artifact_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_artifact_using_subcommand
    set -l cmd (__fish_run_artifact_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-artifact -n "__fish_run_artifact_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -s V -l version -d 'Print version'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "write" -d 'Write an artifact, as the next version or a given one'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "read" -d 'Print an artifact'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "latest" -d 'Print the latest artifact of a node'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "list" -d 'List artifacts'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "labels" -d 'Print the labels of an artifact'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "reindex" -d 'Make the index in run.json say what is there'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "files-dir" -d 'Make sure that the directory for files of tools is there'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "files" -d 'List the files that tools wrote'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "file" -d 'Print a file that a tool wrote'
complete -c run-artifact -n "__fish_run_artifact_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l version -d 'The version [default: the next one]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l label -d 'A label, as often as you like' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l contract -d 'The contract, a JSON object; @FILE reads it from a file, - from standard input' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l publish -d 'The name under which it is published: an event tells of it' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l no-event -d 'Append no event'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand write" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand read" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand read" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand read" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand read" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand read" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand read" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand read" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand latest" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand latest" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand latest" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand latest" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand latest" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand latest" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand latest" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand list" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand list" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand list" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand list" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand list" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand list" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand list" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand labels" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand labels" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand labels" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand labels" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand labels" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand labels" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand labels" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand reindex" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand reindex" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand reindex" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand reindex" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand reindex" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand reindex" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand reindex" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files-dir" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files-dir" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files-dir" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files-dir" -l shared -d 'Let the group write into it (mode 0775), for a sandbox with another user'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files-dir" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files-dir" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files-dir" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files-dir" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files" -s z -d 'Items end in NUL and names are raw bytes'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand files" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand file" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand file" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-artifact -n "__fish_run_artifact_using_subcommand file" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-artifact -n "__fish_run_artifact_using_subcommand file" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand file" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand file" -s v -l verbose -d 'Say more on standard error'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand file" -s h -l help -d 'Print help'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "write" -d 'Write an artifact, as the next version or a given one'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "read" -d 'Print an artifact'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "latest" -d 'Print the latest artifact of a node'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "list" -d 'List artifacts'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "labels" -d 'Print the labels of an artifact'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "reindex" -d 'Make the index in run.json say what is there'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "files-dir" -d 'Make sure that the directory for files of tools is there'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "files" -d 'List the files that tools wrote'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "file" -d 'Print a file that a tool wrote'
complete -c run-artifact -n "__fish_run_artifact_using_subcommand help; and not __fish_seen_subcommand_from write read latest list labels reindex files-dir files file help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
