package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.process.BrokenPipe;
import dev.isola.provider.memory.process.Proc;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One command as the shell runs it: assignments alone, a function, a builtin, or a program in a
 * process of its own.
 */
final class SimpleCommand {
  private final Shell shell;
  private final Ast.Simple simple;

  SimpleCommand(Shell shell, Ast.Simple simple) {
    this.shell = shell;
    this.simple = simple;
  }

  int run(List<String> words) throws IOException, InterruptedException {
    if (words.isEmpty()) {
      return assignOnly();
    }
    Map<String, String> local = new TreeMap<>();
    for (Ast.Assignment assignment : simple.assignments()) {
      local.put(assignment.name(), shell.expander().one(assignment.value()));
    }
    Optional<Ast> function = shell.function(words.getFirst());
    return function.isPresent() || Builtins.has(words.getFirst())
        ? inside(function, words, local)
        : program(words, local);
  }

  private int assignOnly() throws IOException, InterruptedException {
    for (Ast.Assignment assignment : simple.assignments()) {
      shell.assign(assignment.name(), shell.expander().one(assignment.value()));
    }
    return simple.redirections().isEmpty()
        ? shell.status()
        : shell.redirected(new Ast.Redirected(new Ast.Sequence(List.of()), simple.redirections()));
  }

  private int inside(Optional<Ast> function, List<String> words, Map<String, String> local)
      throws IOException, InterruptedException {
    Map<String, Optional<String>> before = shell.variables().replace(local);
    try (Redirections redirections = Redirections.apply(shell, simple.redirections())) {
      if (function.isPresent()) {
        return call(function.get(), words);
      }
      if (words.getFirst().equals("exec")) {
        redirections.keep();
      }
      return new Builtins(shell).run(words);
    } catch (BrokenPipe e) {
      throw e;
    } catch (IOException e) {
      shell.complain(String.valueOf(e.getMessage()));
      return 2;
    } finally {
      shell.variables().restore(before);
    }
  }

  private int call(Ast function, List<String> words) throws IOException, InterruptedException {
    List<String> outer = shell.arguments();
    shell.arguments(words.subList(1, words.size()));
    try {
      return shell.run(function);
    } catch (Leave e) {
      if (e.kind() == Leave.Kind.RETURN) {
        return e.code();
      }
      throw e;
    } finally {
      shell.arguments(outer);
    }
  }

  private int program(List<String> words, Map<String, String> local) throws InterruptedException {
    Proc child = shell.proc().fork();
    Shell copy = shell.copyFor(child);
    child.start(self -> copy.become(simple.redirections(), words, local));
    return shell.awaitChild(child);
  }
}
