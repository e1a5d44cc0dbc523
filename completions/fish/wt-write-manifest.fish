complete -c wt-write-manifest -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-write-manifest -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-write-manifest -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-write-manifest -l label -d 'Point this label to the snapshot; may be given more than once' -r
complete -c wt-write-manifest -l label-create -d 'Point this label to the snapshot; it must not exist yet' -r
complete -c wt-write-manifest -l label-next -d 'Point PREFIX:n to the snapshot, with the first n above all in use' -r
complete -c wt-write-manifest -l parent -d 'The snapshot that must be the newest one' -r
complete -c wt-write-manifest -s z -d 'Items end in NUL and names are raw bytes, on input and output'
complete -c wt-write-manifest -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c wt-write-manifest -l no-dedupe -d 'Write a manifest even if nothing changed'
complete -c wt-write-manifest -l relocate -d 'Take another workspace than the run\'s as its own from now on'
complete -c wt-write-manifest -l strict -d 'End with exit code 3 if there are gaps'
complete -c wt-write-manifest -l again -d 'End with exit code 75 if only another capture was faster, so that the caller can begin again'
complete -c wt-write-manifest -l allow-unterminated -d 'Take a list of records without version line and end mark'
complete -c wt-write-manifest -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-write-manifest -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-write-manifest -s v -l verbose -d 'Say more on standard error'
complete -c wt-write-manifest -s h -l help -d 'Print help'
complete -c wt-write-manifest -s V -l version -d 'Print version'
