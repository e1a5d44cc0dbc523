complete -c wt-cat-object -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-cat-object -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-cat-object -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-cat-object -s z -d 'Items end in NUL and names are raw bytes, on input and output'
complete -c wt-cat-object -s s -d 'Write the size instead of the bytes'
complete -c wt-cat-object -s e -d 'Only say by the exit code whether all are there'
complete -c wt-cat-object -l batch -d 'Read ids from standard input'
complete -c wt-cat-object -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-cat-object -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-cat-object -s v -l verbose -d 'Say more on standard error'
complete -c wt-cat-object -s h -l help -d 'Print help'
complete -c wt-cat-object -s V -l version -d 'Print version'
