complete -c wt-ls-files -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-ls-files -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-ls-files -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-ls-files -l max-files -d 'More captured files than this are an error' -r
complete -c wt-ls-files -l max-file-size -d 'Larger files are gaps; K, M and G are understood [default: $ITERION_WORKSPACE_MAX_FILE_MB, else 32M]' -r
complete -c wt-ls-files -l yes-this-root -d 'Take the workspace even if it is /, the home directory or holds the stores'
complete -c wt-ls-files -s z -d 'Items end in NUL and names are raw bytes'
complete -c wt-ls-files -l end -d 'Close the list with an empty item, so that a reader can tell that it is complete'
complete -c wt-ls-files -l records -d 'Write records instead of paths'
complete -c wt-ls-files -l dir-cache -d 'With --records, do not list directories again that are as the run remembers them, and remember the others'
complete -c wt-ls-files -l ignored -d 'List what the rules leave out'
complete -c wt-ls-files -l gaps -d 'List what is there and would not be captured, with the reason'
complete -c wt-ls-files -l progress -d 'Say on standard error how far the walk is'
complete -c wt-ls-files -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-ls-files -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-ls-files -s v -l verbose -d 'Say more on standard error'
complete -c wt-ls-files -s h -l help -d 'Print help'
complete -c wt-ls-files -s V -l version -d 'Print version'
