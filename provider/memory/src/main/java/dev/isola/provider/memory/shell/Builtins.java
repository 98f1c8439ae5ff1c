package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.Tree;
import dev.isola.provider.memory.process.Proc;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What the shell does itself, because it changes the shell. */
final class Builtins {
  private static final Set<String> OWN =
      Set.of(
          ":",
          ".",
          "break",
          "cd",
          "command",
          "continue",
          "eval",
          "exec",
          "exit",
          "export",
          "read",
          "return",
          "set",
          "shift",
          "trap",
          "type",
          "umask",
          "unset",
          "wait",
          "local",
          "jobs");

  /** Programs that a shell runs without starting a process. */
  private static final Set<String> QUICK =
      Set.of("echo", "printf", "true", "false", "test", "[", "pwd", "kill");

  private final Shell shell;

  Builtins(Shell shell) {
    this.shell = shell;
  }

  static boolean has(String name) {
    return OWN.contains(name) || QUICK.contains(name);
  }

  int run(List<String> words) throws IOException, InterruptedException {
    List<String> arguments = words.subList(1, words.size());
    return switch (words.getFirst()) {
      case ":", "umask", "jobs" -> 0;
      case "break" -> throw new Leave(Leave.Kind.BREAK, number(arguments, 1));
      case "continue" -> throw new Leave(Leave.Kind.CONTINUE, number(arguments, 1));
      case "return" -> throw new Leave(Leave.Kind.RETURN, number(arguments, shell.status()));
      case "exit" -> throw new Leave(Leave.Kind.EXIT, number(arguments, shell.status()) & 0xff);
      case "cd" -> changeFolder(arguments);
      case "command", "type" -> command(words.getFirst(), arguments);
      case "eval" -> shell.run(Parser.parse(String.join(" ", arguments)));
      case "." -> source(arguments);
      case "exec" -> exec(arguments);
      case "export", "local" -> export(words.getFirst().equals("export"), arguments);
      case "unset" -> unset(arguments);
      case "set" -> set(arguments);
      case "shift" -> shift(number(arguments, 1));
      case "read" -> new ReadLine(shell).run(arguments);
      case "trap" -> trap(arguments);
      case "wait" -> await(arguments);
      default -> quick(words);
    };
  }

  private int quick(List<String> words) throws IOException, InterruptedException {
    Map<String, String> env = shell.variables().exported();
    return Programs.named(words.getFirst()).run(new Call(shell.proc(), words, env));
  }

  private int number(List<String> arguments, int otherwise)
      throws IOException, InterruptedException {
    if (arguments.isEmpty()) {
      return otherwise;
    }
    try {
      return Integer.parseInt(arguments.getFirst());
    } catch (NumberFormatException e) {
      shell.complain("Illegal number: " + arguments.getFirst());
      throw new Leave(Leave.Kind.EXIT, 2);
    }
  }

  private int changeFolder(List<String> arguments) throws IOException, InterruptedException {
    String target = arguments.isEmpty() ? shell.variable("HOME") : arguments.getFirst();
    Proc proc = shell.proc();
    try {
      FileInfo folder = proc.tree().stat(Tree.absolute(proc.folder(), Raw.text(target)), true);
      if (folder.type() == FileType.FOLDER) {
        shell.assign("OLDPWD", Raw.of(proc.folder()));
        proc.folder(folder.path());
        shell.assign("PWD", Raw.of(folder.path()));
        return 0;
      }
    } catch (SandboxException e) {
      // Said below.
    }
    shell.complain("cd: can't cd to " + target);
    return 2;
  }

  private int command(String name, List<String> arguments)
      throws IOException, InterruptedException {
    boolean ask =
        name.equals("type") || (!arguments.isEmpty() && arguments.getFirst().startsWith("-"));
    if (!ask) {
      return arguments.isEmpty() ? 0 : runPlain(arguments);
    }
    String wanted = arguments.getLast();
    Call call = new Call(shell.proc(), List.of(name), Map.of());
    if (Parser.RESERVED.contains(wanted)
        || OWN.contains(wanted)
        || shell.function(wanted).isPresent()) {
      call.out(wanted + "\n");
      return 0;
    }
    Optional<String> path = Executables.find(shell.proc(), wanted, shell.variable("PATH"));
    if (path.isEmpty()) {
      return 127;
    }
    call.out((QUICK.contains(wanted) ? wanted : path.get()) + "\n");
    return 0;
  }

  private int runPlain(List<String> words) throws IOException, InterruptedException {
    if (has(words.getFirst())) {
      return run(words);
    }
    List<Word> quoted = new ArrayList<>();
    words.forEach(word -> quoted.add(new Word(List.of(new Word.Literal(word, true)))));
    return shell.run(new Ast.Simple(List.of(), quoted, List.of()));
  }

  private int source(List<String> arguments) throws IOException, InterruptedException {
    String path = Tree.absolute(shell.proc().folder(), Raw.text(arguments.getFirst()));
    return shell.run(Parser.parse(Executables.content(shell.proc(), path)));
  }

  private int exec(List<String> arguments) throws IOException, InterruptedException {
    if (arguments.isEmpty()) {
      return 0;
    }
    throw new Leave(Leave.Kind.EXIT, shell.become(List.of(), arguments, Map.of()));
  }

  private int export(boolean exported, List<String> arguments) {
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      if (equals >= 0) {
        shell.assign(name, argument.substring(equals + 1));
      }
      if (exported) {
        shell.variables().export(name);
      }
    }
    return 0;
  }

  private int unset(List<String> arguments) {
    arguments.forEach(shell.variables()::unset);
    return 0;
  }

  private int set(List<String> arguments) {
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (argument.equals("--")) {
        shell.arguments(arguments.subList(i + 1, arguments.size()));
        return 0;
      }
      if (argument.matches("[-+][a-z]+")) {
        if (argument.contains("e")) {
          shell.stopOnError(argument.startsWith("-"));
        }
      } else {
        shell.arguments(arguments.subList(i, arguments.size()));
        return 0;
      }
    }
    return 0;
  }

  private int shift(int count) {
    List<String> arguments = shell.arguments();
    if (count > arguments.size()) {
      return 2;
    }
    shell.arguments(arguments.subList(count, arguments.size()));
    return 0;
  }

  private int trap(List<String> arguments) throws IOException, InterruptedException {
    if (arguments.isEmpty()) {
      return 0;
    }
    boolean reset = arguments.getFirst().equals("-");
    for (String name : arguments.subList(1, arguments.size())) {
      Optional<Integer> signal =
          name.equals("EXIT") || name.equals("0")
              ? Optional.of(0)
              : Signal.parse(name).map(Signal::number);
      if (signal.isEmpty()) {
        shell.complain("trap: " + name + ": bad trap");
        return 1;
      }
      if (reset) {
        shell.proc().signals().reset(signal.get());
      } else {
        shell.proc().signals().handle(signal.get(), arguments.getFirst());
      }
    }
    return 0;
  }

  private int await(List<String> arguments) throws InterruptedException {
    int status = 0;
    if (arguments.isEmpty()) {
      for (Proc child : List.copyOf(shell.children().values())) {
        status = await(child);
        if (status < 0) {
          return -status;
        }
        shell.children().remove(child.pid());
      }
      return 0;
    }
    for (String argument : arguments) {
      long pid = argument.matches("[0-9]{1,18}") ? Long.parseLong(argument) : 0;
      Proc child = shell.children().get(pid);
      status = child == null ? 127 : await(child);
    }
    return Math.abs(status);
  }

  /** Returns the child's code, or a negative one when a signal that is handled came first. */
  private int await(Proc child) throws InterruptedException {
    shell.proc().signals().waiting(true);
    try {
      return shell.awaitChild(child);
    } catch (InterruptedException e) {
      shell.proc().checkpoint();
      return -(128 + Signal.TERM.number());
    } finally {
      shell.proc().signals().waiting(false);
    }
  }
}
