package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.Tree;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** {@code sh}: runs a text, a file, or what it reads. */
final class ShellProgram implements Program {
  private static final int INTERRUPT = 2;

  @Override
  public int run(Call call) throws IOException, InterruptedException {
    List<String> rest = new ArrayList<>(call.arguments());
    boolean text = false;
    boolean stopOnError = false;
    while (!rest.isEmpty()
        && rest.getFirst().length() > 1
        && "-+".indexOf(rest.getFirst().charAt(0)) >= 0) {
      String option = rest.removeFirst();
      if (option.equals("--")) {
        break;
      }
      if (!option.matches("[-+][ceisuxv]+")) {
        call.complain("0: Illegal option " + option);
        return 2;
      }
      text |= option.indexOf('c') > 0;
      stopOnError |= option.indexOf('e') > 0 && option.startsWith("-");
    }
    if (text && rest.isEmpty()) {
      call.complain("0: -c requires an argument");
      return 2;
    }
    String program = rest.isEmpty() ? "" : rest.removeFirst();
    String name =
        text && !rest.isEmpty() ? rest.removeFirst() : text || program.isEmpty() ? "sh" : program;
    Shell shell = new Shell(call.proc(), name, List.copyOf(rest), call.env());
    shell.stopOnError(stopOnError);
    if (text) {
      return shell.runText(program);
    }
    return program.isEmpty() ? readAndRun(shell) : file(call, shell, program);
  }

  private static int file(Call call, Shell shell, String program)
      throws IOException, InterruptedException {
    String path = Tree.absolute(call.proc().folder(), Raw.text(program));
    if (call.tree().find(path, true).isEmpty()) {
      call.complain("0: cannot open " + program + ": No such file");
      return 2;
    }
    return shell.runText(Executables.content(call.proc(), path));
  }

  /** Reads commands, as a person types them when there is a terminal. */
  private static int readAndRun(Shell shell) throws IOException, InterruptedException {
    boolean terminal =
        shell.proc().descriptor(0).filter(file -> file.terminal().isPresent()).isPresent();
    if (terminal) {
      shell.proc().signals().handle(INTERRUPT, ":");
    }
    StringBuilder text = new StringBuilder();
    prompt(shell, terminal, text);
    while (readLine(shell, text)) {
      try {
        Ast program = Parser.parse(text.toString());
        text.setLength(0);
        shell.run(program);
      } catch (SyntaxError e) {
        if (!e.incomplete()) {
          text.setLength(0);
          shell.complain(String.valueOf(e.getMessage()));
        }
      } catch (Leave e) {
        if (e.kind() == Leave.Kind.EXIT) {
          return e.code();
        }
      }
      prompt(shell, terminal, text);
    }
    return shell.exitTrap();
  }

  private static void prompt(Shell shell, boolean terminal, StringBuilder text)
      throws IOException, InterruptedException {
    if (terminal) {
      byte[] shown =
          Raw.bytes(!text.isEmpty() ? "> " : shell.isSet("PS1") ? shell.variable("PS1") : "$ ");
      shell.proc().write(2, shown, shown.length);
    }
  }

  private static boolean readLine(Shell shell, StringBuilder text)
      throws IOException, InterruptedException {
    byte[] one = new byte[1];
    int before = text.length();
    while (shell.proc().read(0, one) > 0) {
      text.append((char) (one[0] & 0xff));
      if (one[0] == '\n') {
        return true;
      }
    }
    return text.length() > before;
  }
}
