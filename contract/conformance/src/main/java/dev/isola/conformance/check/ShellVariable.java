package dev.isola.conformance.check;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import java.util.concurrent.atomic.AtomicInteger;

/** A value that exists only in the memory of a running shell. */
record ShellVariable(ExecutionId id) {
  private static final AtomicInteger QUESTIONS = new AtomicInteger();

  /** Answers each line {@code QUESTION} or {@code QUESTION VALUE} with {@code QUESTION=VALUE}. */
  private static final String SCRIPT =
      """
      value=
      while read -r question next; do
        value=${next:-$value}
        echo "<$question=$value>"
      done
      """;

  static ShellVariable start(Sandbox sandbox, String value) {
    try (Execution started = sandbox.start(Command.shell(SCRIPT).withStdin())) {
      ShellVariable variable = new ShellVariable(started.id());
      variable.set(sandbox, value);
      return variable;
    }
  }

  void set(Sandbox sandbox, String value) {
    ask(sandbox, value);
  }

  /** Returns the value that the shell has in this sandbox. */
  String in(Sandbox sandbox) {
    return ask(sandbox, "");
  }

  private String ask(Sandbox sandbox, String value) {
    String question = "q" + QUESTIONS.incrementAndGet();
    try (AttachedReader reader = AttachedReader.attach(sandbox, id)) {
      String begin = "<" + question + "=";
      reader.type(question + " " + value + "\n").awaitText(begin).awaitText(">\n");
      String answers = reader.text();
      int from = answers.indexOf(begin) + begin.length();
      return answers.substring(from, answers.indexOf('>', from));
    }
  }
}
