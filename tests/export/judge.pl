% Reads terms case(Program, Facts, Target, Arity) and prints the answers of each, one case a line.
% Program and Facts are files. Each case has a module of its own, so that it sees no other's predicates.

:- set_stream(user_input, encoding(utf8)).

judge :-
    read_term(Case, []),
    (   Case == end_of_file
    ->  true
    ;   flag(case, N, N + 1),
        atom_concat(case, N, Module),
        answer(Module, Case),
        judge
    ).

answer(Module, case(Program, Facts, Target, Arity)) :-
    load_files(Module:Program),
    load_files(Module:Facts),
    length(Arguments, Arity),
    Goal =.. [Target|Arguments],
    findall(Arguments, Module:Goal, Found),
    sort(Found, Answers),
    format("~w~n", [Answers]),
    unload_file(Program),
    unload_file(Facts).
