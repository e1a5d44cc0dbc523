# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_attachment_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_attachment_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_attachment_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_attachment_using_subcommand
    set -l cmd (__fish_run_attachment_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-attachment -n "__fish_run_attachment_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -s h -l help -d 'Print help'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -s V -l version -d 'Print version'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -f -a "add" -d 'Add files, all or none'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -f -a "list" -d 'List attachments'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -f -a "open" -d 'Give out the bytes of an attachment'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -f -a "remove" -d 'Remove attachments'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -f -a "reindex" -d 'Make the mirror in run.json say what is there'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -f -a "presign" -d 'Make a link that is good for a while'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -f -a "verify" -d 'Tell whether a link is good'
complete -c run-attachment -n "__fish_run_attachment_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -l filename -d 'What the one file is called [default: as it is]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -l max-bytes -d 'Largest file; K, M and G are understood' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -l max-total -d 'All attachments of the run together [default: 5 times the largest file]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -l max-files -d 'Most attachments of the run' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -l allow -d 'Types that are taken, instead of the usual ones; * stands for anything in a segment' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -s v -l verbose -d 'Say more on standard error'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand add" -s h -l help -d 'Print help'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand list" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand list" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand list" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand list" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand list" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand list" -s v -l verbose -d 'Say more on standard error'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand list" -s h -l help -d 'Print help'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand open" -s o -l output -d 'Write to a file, which is whole or not there [default: standard output]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand open" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand open" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand open" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand open" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand open" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand open" -s v -l verbose -d 'Say more on standard error'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand open" -s h -l help -d 'Print help'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand remove" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand remove" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand remove" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand remove" -l all -d 'All of them'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand remove" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand remove" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand remove" -s v -l verbose -d 'Say more on standard error'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand remove" -s h -l help -d 'Print help'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand reindex" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand reindex" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand reindex" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand reindex" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand reindex" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand reindex" -s v -l verbose -d 'Say more on standard error'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand reindex" -s h -l help -d 'Print help'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand presign" -l expires -d 'How long it is good, at most 24h; s, m and h are understood' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand presign" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand presign" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand presign" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand presign" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand presign" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand presign" -s v -l verbose -d 'Say more on standard error'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand presign" -s h -l help -d 'Print help'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -l exp -d 'When the link ends, in seconds since 1970' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -l sig -d 'The signature' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -s v -l verbose -d 'Say more on standard error'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand verify" -s h -l help -d 'Print help'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand help; and not __fish_seen_subcommand_from add list open remove reindex presign verify help" -f -a "add" -d 'Add files, all or none'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand help; and not __fish_seen_subcommand_from add list open remove reindex presign verify help" -f -a "list" -d 'List attachments'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand help; and not __fish_seen_subcommand_from add list open remove reindex presign verify help" -f -a "open" -d 'Give out the bytes of an attachment'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand help; and not __fish_seen_subcommand_from add list open remove reindex presign verify help" -f -a "remove" -d 'Remove attachments'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand help; and not __fish_seen_subcommand_from add list open remove reindex presign verify help" -f -a "reindex" -d 'Make the mirror in run.json say what is there'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand help; and not __fish_seen_subcommand_from add list open remove reindex presign verify help" -f -a "presign" -d 'Make a link that is good for a while'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand help; and not __fish_seen_subcommand_from add list open remove reindex presign verify help" -f -a "verify" -d 'Tell whether a link is good'
complete -c run-attachment -n "__fish_run_attachment_using_subcommand help; and not __fish_seen_subcommand_from add list open remove reindex presign verify help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
