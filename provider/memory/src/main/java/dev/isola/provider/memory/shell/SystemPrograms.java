package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.process.Proc;
import dev.isola.provider.memory.process.Tty;
import dev.isola.spi.exec.Signal;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Programs about processes, users, terminals and time. */
final class SystemPrograms {
  private SystemPrograms() {}

  static Map<String, Program> all() {
    return Map.ofEntries(
        Map.entry("true", call -> 0),
        Map.entry("false", call -> 1),
        Map.entry("sleep", SystemPrograms::sleep),
        Map.entry("env", SystemPrograms::env),
        Map.entry("pwd", call -> say(call, Raw.of(call.proc().folder()))),
        Map.entry("id", SystemPrograms::id),
        Map.entry("whoami", call -> say(call, "root")),
        Map.entry("kill", SystemPrograms::kill),
        Map.entry("test", call -> new TestExpression(call).run()),
        Map.entry("[", call -> new TestExpression(call).run()),
        Map.entry("stty", SystemPrograms::stty),
        Map.entry("tty", SystemPrograms::tty),
        Map.entry("setsid", SystemPrograms::setsid),
        Map.entry("nohup", SystemPrograms::nohup),
        Map.entry("date", call -> say(call, Long.toString(Instant.now().getEpochSecond()))),
        Map.entry("uname", call -> say(call, "Memory")),
        Map.entry("hostname", call -> say(call, "memory")),
        Map.entry("sync", call -> 0));
  }

  private static int say(Call call, String line) throws IOException, InterruptedException {
    call.out(line + "\n");
    return 0;
  }

  private static int sleep(Call call) throws IOException, InterruptedException {
    double seconds = 0;
    for (String argument : call.arguments()) {
      if (!argument.matches("[0-9]*\\.?[0-9]+[smh]?")) {
        return call.complain("invalid time interval '" + argument + "'");
      }
      char unit = argument.charAt(argument.length() - 1);
      double factor = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
      seconds += factor * Double.parseDouble(argument.replaceAll("[smh]$", ""));
    }
    Thread.sleep((long) (seconds * 1000));
    call.proc().checkpoint();
    return 0;
  }

  private static int env(Call call) throws IOException, InterruptedException {
    List<String> rest = new ArrayList<>(call.arguments());
    Map<String, String> env = new TreeMap<>(call.env());
    if (!rest.isEmpty() && rest.getFirst().equals("-i")) {
      rest.removeFirst();
      env.clear();
    }
    while (!rest.isEmpty() && rest.getFirst().indexOf('=') > 0) {
      String[] pair = rest.removeFirst().split("=", 2);
      env.put(pair[0], pair[1]);
    }
    if (!rest.isEmpty()) {
      return instead(call, rest, env);
    }
    StringBuilder text = new StringBuilder();
    env.forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    call.out(text.toString());
    return 0;
  }

  /** Runs another program in this process. */
  private static int instead(Call call, List<String> words, Map<String, String> env)
      throws IOException, InterruptedException {
    Shell shell = new Shell(call.proc(), call.name(), List.of(), env);
    return Executables.runFromShell(shell, words, env);
  }

  private static int id(Call call) throws IOException, InterruptedException {
    String options = String.join("", call.arguments());
    if (options.isEmpty()) {
      return say(call, "uid=0(root) gid=0(root) groups=0(root)");
    }
    return say(call, options.contains("n") ? "root" : "0");
  }

  private static int kill(Call call) throws IOException, InterruptedException {
    List<String> rest = new ArrayList<>(call.arguments());
    int signal = Signal.TERM.number();
    if (!rest.isEmpty() && rest.getFirst().startsWith("-") && rest.size() > 1) {
      String option = rest.removeFirst();
      String name = option.equals("-s") ? rest.removeFirst() : option.substring(1);
      Optional<Signal> parsed = Signal.parse(name);
      if (parsed.isEmpty() && !name.equals("0")) {
        return call.complain("invalid signal: " + name);
      }
      signal = parsed.map(Signal::number).orElse(0);
    }
    int status = 0;
    for (String target : rest) {
      Optional<Proc> found =
          target.matches("[0-9]{1,18}")
              ? call.proc().processes().find(Long.parseLong(target))
              : Optional.empty();
      if (found.isEmpty()) {
        status = call.complain("(" + target + ") - No such process");
      } else {
        found.get().signal(signal);
      }
    }
    call.proc().checkpoint();
    return status;
  }

  private static Optional<Tty> terminal(Call call) {
    return call.proc().descriptor(0).flatMap(file -> file.terminal());
  }

  private static int stty(Call call) throws IOException, InterruptedException {
    Optional<Tty> tty = terminal(call);
    if (tty.isEmpty()) {
      return call.complain("standard input: Inappropriate ioctl for device");
    }
    for (String argument : call.arguments()) {
      Tty terminal = tty.get();
      switch (argument) {
        case "size" -> say(call, terminal.size().rows() + " " + terminal.size().columns());
        case "echo" -> terminal.mode(true, terminal.canonical());
        case "-echo" -> terminal.mode(false, terminal.canonical());
        case "raw" -> terminal.mode(terminal.echoes(), false);
        case "-icanon" -> terminal.mode(terminal.echoes(), false);
        case "sane" -> terminal.mode(true, true);
        default -> call.complain("only size, echo, raw and sane are simulated: " + argument);
      }
    }
    return 0;
  }

  private static int tty(Call call) throws IOException, InterruptedException {
    if (terminal(call).isEmpty()) {
      call.out("not a tty\n");
      return 1;
    }
    return say(call, "/dev/pts/0");
  }

  private static int setsid(Call call) throws IOException, InterruptedException {
    call.proc().ownGroup();
    return instead(call, call.arguments(), call.env());
  }

  private static int nohup(Call call) throws IOException, InterruptedException {
    call.proc().signals().handle(Signal.HUP.number(), "");
    return instead(call, call.arguments(), call.env());
  }
}
