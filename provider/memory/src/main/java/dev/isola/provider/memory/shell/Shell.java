package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.Glob;
import dev.isola.provider.memory.process.OpenFile;
import dev.isola.provider.memory.process.Pipe;
import dev.isola.provider.memory.process.Proc;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Runs programs of the shell: one of these for each process that is a shell. */
final class Shell {
  private static final int INTERRUPT = 2;
  private static final int QUIT = 3;
  private static final int TURNS = 64;

  private final Proc proc;
  private final long mainPid;
  private final Variables variables;
  private final Map<String, Ast> functions = new HashMap<>();
  private final Map<Long, Proc> children = new LinkedHashMap<>();
  private final Expander expander = new Expander(this);
  private List<String> arguments;
  private String name;
  private int status;
  private long background;
  private int conditions;
  private boolean stopOnError;

  Shell(Proc proc, String name, List<String> arguments, Map<String, String> env) {
    this.proc = proc;
    this.mainPid = proc.pid();
    this.name = name;
    this.arguments = arguments;
    this.variables = new Variables(env);
    variables.set("PWD", Raw.of(proc.folder()));
  }

  private Shell(Shell parent, Proc proc) {
    this.proc = proc;
    this.mainPid = parent.mainPid;
    this.name = parent.name;
    this.arguments = parent.arguments;
    this.variables = parent.variables.copy();
    this.functions.putAll(parent.functions);
    this.status = parent.status;
    this.background = parent.background;
    this.stopOnError = parent.stopOnError;
  }

  Proc proc() {
    return proc;
  }

  Expander expander() {
    return expander;
  }

  Variables variables() {
    return variables;
  }

  List<String> arguments() {
    return arguments;
  }

  void arguments(List<String> changed) {
    arguments = List.copyOf(changed);
  }

  int status() {
    return status;
  }

  Map<Long, Proc> children() {
    return children;
  }

  Optional<Ast> function(String wanted) {
    return Optional.ofNullable(functions.get(wanted));
  }

  void stopOnError(boolean now) {
    stopOnError = now;
  }

  boolean isSet(String variable) {
    return !variable(variable).isEmpty() || variables.isSet(variable);
  }

  String variable(String variable) {
    return switch (variable) {
      case "?" -> Integer.toString(status);
      case "$" -> Long.toString(mainPid);
      case "!" -> background == 0 ? "" : Long.toString(background);
      case "#" -> Integer.toString(arguments.size());
      case "0" -> name;
      case "@", "*" -> String.join(" ", arguments);
      case "-" -> stopOnError ? "e" : "";
      case "PPID" -> Long.toString(proc.parent());
      default ->
          Character.isDigit(variable.charAt(0)) ? argument(variable) : variables.get(variable);
    };
  }

  private String argument(String number) {
    int index = Integer.parseInt(number);
    return index <= arguments.size() ? arguments.get(index - 1) : "";
  }

  String assign(String variable, String value) {
    variables.set(variable, value);
    return value;
  }

  /** Runs a whole text; returns the exit code. */
  int runText(String text) throws IOException, InterruptedException {
    try {
      run(Parser.parse(text));
    } catch (Leave e) {
      status = e.code();
    } catch (SyntaxError e) {
      status = 2;
      complain(String.valueOf(e.getMessage()));
    }
    return exitTrap();
  }

  private int runToEnd(Ast body) throws IOException, InterruptedException {
    try {
      run(body);
    } catch (Leave e) {
      status = e.code();
    }
    return exitTrap();
  }

  /** Runs what was set for the end, if anything; returns the exit code. */
  int exitTrap() throws IOException, InterruptedException {
    int code = status;
    Optional<String> last = proc.signals().handler(0);
    proc.signals().reset(0);
    try {
      if (last.isPresent()) {
        run(Parser.parse(last.get()));
      }
    } catch (Leave e) {
      return e.code();
    }
    return code;
  }

  int complain(String message) throws IOException, InterruptedException {
    byte[] bytes = (name + ": " + message + "\n").getBytes(StandardCharsets.ISO_8859_1);
    proc.write(2, bytes, bytes.length);
    return status;
  }

  int run(Ast ast) throws IOException, InterruptedException {
    proc.checkpoint();
    status =
        switch (ast) {
          case Ast.Sequence sequence -> sequence(sequence);
          case Ast.AndOr either -> andOr(either);
          case Ast.Pipeline pipeline -> pipeline(pipeline);
          case Ast.Background body -> startInBackground(body.body());
          case Ast.Subshell subshell -> awaitChild(fork(subshell.body(), null, null));
          case Ast.Loop loop -> loop(loop);
          case Ast.For loop -> forLoop(loop);
          case Ast.If either -> either(either);
          case Ast.Case choice -> choose(choice);
          case Ast.Function function -> define(function);
          case Ast.Redirected redirected -> redirected(redirected);
          case Ast.Simple simple -> simple(simple);
        };
    return status;
  }

  private int sequence(Ast.Sequence sequence) throws IOException, InterruptedException {
    int last = sequence.steps().isEmpty() ? 0 : status;
    for (Ast step : sequence.steps()) {
      last = run(step);
    }
    return last;
  }

  private int condition(Ast condition) throws IOException, InterruptedException {
    conditions++;
    try {
      return run(condition);
    } finally {
      conditions--;
    }
  }

  private int andOr(Ast.AndOr either) throws IOException, InterruptedException {
    int first = condition(either.first());
    return (first == 0) == either.and() ? run(either.second()) : first;
  }

  private int either(Ast.If either) throws IOException, InterruptedException {
    return condition(either.condition()) == 0 ? run(either.then()) : run(either.otherwise());
  }

  private int choose(Ast.Case choice) throws IOException, InterruptedException {
    String subject = expander.one(choice.subject());
    for (Ast.Choice candidate : choice.choices()) {
      for (Word pattern : candidate.patterns()) {
        if (Glob.ofText(expander.pattern(pattern)).matches(subject)) {
          return run(candidate.body());
        }
      }
    }
    return 0;
  }

  private int define(Ast.Function function) {
    functions.put(function.name(), function.body());
    return 0;
  }

  private int loop(Ast.Loop loop) throws IOException, InterruptedException {
    int last = 0;
    int turns = 0;
    while ((condition(loop.condition()) == 0) != loop.until()) {
      if (++turns % TURNS == 0) {
        LockSupport.parkNanos(1); // a busy loop must not keep others from their turn
      }
      Optional<Integer> result = once(loop.body());
      if (result.isEmpty()) {
        return 0;
      }
      last = result.get();
    }
    return last;
  }

  private int forLoop(Ast.For loop) throws IOException, InterruptedException {
    List<String> values =
        loop.words().isPresent() ? expander.all(loop.words().get()) : List.copyOf(arguments);
    int last = 0;
    for (String value : values) {
      variables.set(loop.name(), value);
      Optional<Integer> result = once(loop.body());
      if (result.isEmpty()) {
        return 0;
      }
      last = result.get();
    }
    return last;
  }

  /** Runs the body of a loop; empty when it asked to leave the loop. */
  private Optional<Integer> once(Ast body) throws IOException, InterruptedException {
    try {
      return Optional.of(run(body));
    } catch (Leave e) {
      if (e.kind() == Leave.Kind.CONTINUE || e.kind() == Leave.Kind.BREAK) {
        if (e.code() > 1) {
          throw new Leave(e.kind(), e.code() - 1);
        }
        return e.kind() == Leave.Kind.BREAK ? Optional.empty() : Optional.of(0);
      }
      throw e;
    }
  }

  int redirected(Ast.Redirected redirected) throws IOException, InterruptedException {
    Redirections redirections;
    try {
      redirections = Redirections.apply(this, redirected.redirections());
    } catch (IOException e) {
      complain(String.valueOf(e.getMessage()));
      return 2;
    }
    try {
      return run(redirected.body());
    } finally {
      redirections.close();
    }
  }

  private int pipeline(Ast.Pipeline pipeline) throws IOException, InterruptedException {
    if (pipeline.stages().size() == 1) {
      return condition(pipeline.stages().getFirst()) == 0 ? 1 : 0;
    }
    List<Proc> stages = new ArrayList<>();
    OpenFile input = null;
    for (int i = 0; i < pipeline.stages().size(); i++) {
      Pipe pipe = new Pipe();
      boolean last = i == pipeline.stages().size() - 1;
      stages.add(fork(pipeline.stages().get(i), input, last ? null : pipe.writer()));
      input = pipe.reader();
    }
    int result = 0;
    for (Proc stage : stages) {
      result = awaitChild(stage);
    }
    return pipeline.negated() ? (result == 0 ? 1 : 0) : result;
  }

  /** Starts a process that runs {@code body} as a copy of this shell. */
  private Proc fork(Ast body, @Nullable OpenFile input, @Nullable OpenFile output)
      throws IOException {
    Proc child = proc.fork();
    if (input != null) {
      child.descriptor(0, input);
    }
    if (output != null) {
      child.descriptor(1, output);
    }
    Shell copy = new Shell(this, child);
    child.start(self -> copy.runToEnd(body));
    return child;
  }

  private int startInBackground(Ast body) throws IOException {
    Proc child = proc.fork();
    child.signals().handle(INTERRUPT, "");
    child.signals().handle(QUIT, "");
    child.descriptor(0, new OpenFiles.Nothing());
    Shell copy = new Shell(this, child);
    child.start(self -> copy.runToEnd(body instanceof Ast.Subshell inner ? inner.body() : body));
    background = child.pid();
    children.put(child.pid(), child);
    return 0;
  }

  /** Returns a shell like this one that runs in {@code child}. */
  Shell copyFor(Proc child) {
    return new Shell(this, child);
  }

  int awaitChild(Proc child) throws InterruptedException {
    return child.await().shellCode();
  }

  /** Runs a text and returns what it writes, without the line ends at its end. */
  String capture(String text) throws IOException, InterruptedException {
    Pipe pipe = new Pipe();
    Proc child = fork(Parser.parse(text), null, pipe.writer());
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    for (int n = pipe.reader().read(buffer, 0, buffer.length);
        n >= 0;
        n = pipe.reader().read(buffer, 0, buffer.length)) {
      all.write(buffer, 0, n);
    }
    status = awaitChild(child);
    return all.toString(StandardCharsets.ISO_8859_1).replaceAll("\n+\\z", "");
  }

  private int simple(Ast.Simple simple) throws IOException, InterruptedException {
    int before = status;
    status = 0;
    int result;
    try {
      List<String> words = expandWith(before, simple);
      result = new SimpleCommand(this, simple).run(words);
    } catch (SyntaxError e) {
      complain(String.valueOf(e.getMessage()));
      throw new Leave(Leave.Kind.EXIT, 2);
    }
    status = result;
    runTraps();
    if (stopOnError && conditions == 0 && result != 0) {
      throw new Leave(Leave.Kind.EXIT, result);
    }
    return result;
  }

  private List<String> expandWith(int before, Ast.Simple simple)
      throws IOException, InterruptedException {
    status = before;
    List<String> words = expander.all(simple.words());
    if (words.isEmpty() && simple.words().isEmpty()) {
      status = 0;
    }
    return words;
  }

  /** Turns this process into the program that {@code words} names. */
  int become(List<Ast.Redirection> redirections, List<String> words, Map<String, String> local)
      throws IOException, InterruptedException {
    Map<String, String> env = new TreeMap<>(variables.exported());
    env.putAll(local);
    try {
      Redirections.apply(this, redirections).keep();
    } catch (IOException e) {
      complain(String.valueOf(e.getMessage()));
      return 2;
    }
    return Executables.runFromShell(this, words, env);
  }

  private void runTraps() throws IOException, InterruptedException {
    for (Optional<Integer> signal = proc.signals().next();
        signal.isPresent();
        signal = proc.signals().next()) {
      Optional<String> handler = proc.signals().handler(signal.get());
      if (handler.isPresent()) {
        int before = status;
        run(Parser.parse(handler.get()));
        status = before;
      }
    }
  }
}
