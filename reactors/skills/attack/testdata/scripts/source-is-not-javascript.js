// expect: syntax_error
def execute(input):
    return input
