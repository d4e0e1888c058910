from phenes.cli import main

main()
