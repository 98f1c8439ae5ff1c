package dev.isola.client.examples;

import dev.isola.client.Command;
import dev.isola.client.ExecResult;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxSpec;
import java.time.Duration;

/** Runs untrusted code with a time limit and shows its output. */
public final class RunCode {
  private RunCode() {}

  public static void main(String[] args) {
    try (Isola isola = Isola.fromEnvironment()) {
      IO.print(run(isola, args.length == 0 ? "echo $((6 * 7))" : args[0]));
    }
  }

  /** Returns the output of the code, or how it ended if it failed. */
  public static String run(Isola isola, String code) {
    SandboxSpec spec =
        SandboxSpec.builder()
            .seedFile("main.sh", code)
            .ttl(Duration.ofMinutes(5)) // the sandbox expires even if this process dies
            .build();
    try (Sandbox sandbox = isola.create(spec)) {
      ExecResult result =
          sandbox.exec(Command.argv("sh", "main.sh").withTimeout(Duration.ofSeconds(10)));
      return result.exitCode() == 0
          ? result.stdout()
          : "ended with " + result.exit() + "\n" + result.stderr();
    }
  }
}
