package dev.isola.app.local;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.ProviderReport;
import dev.isola.app.cli.StdinPump;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.ProviderInfo;
import java.util.LinkedHashMap;
import java.util.Map;

/** Captures the output and prints one JSON object at the end. */
final class CapturingRunner implements CommandRunner {
  private final CliEnvironment environment;
  private final Console console;
  private final ProviderInfo provider;

  /**
   * @param provider named after the provider instance
   */
  CapturingRunner(CliEnvironment environment, Console console, ProviderInfo provider) {
    this.environment = environment;
    this.console = console;
    this.provider = provider;
  }

  @Override
  public int run(Sandbox sandbox, Command command) {
    Execution execution = sandbox.start(command.withStdin());
    StdinPump.start(environment.in(), execution);
    ExecResult result = ExecResult.collect(execution, command, OutputLimit.DEFAULT);
    console.print(json(sandbox, result));
    return ExitCodes.of(result.exit());
  }

  private Map<String, ?> json(Sandbox sandbox, ExecResult result) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandbox", sandbox.id().value());
    json.put("provider", provider.name());
    json.put("isolation", ProviderReport.kebabCase(provider.isolation()));
    json.put("command", result.command());
    json.put("exitCode", ExitCodes.of(result.exit()));
    json.put("exit", json(result.exit()));
    json.put("stdout", result.stdout().text());
    json.put("stderr", result.stderr().text());
    json.put("stdoutBytes", result.stdout().total());
    json.put("stderrBytes", result.stderr().total());
    json.put("stdoutTruncated", result.stdout().truncated());
    json.put("stderrTruncated", result.stderr().truncated());
    json.put("durationMs", result.duration().toMillis());
    json.put("timedOut", result.timedOut());
    json.put(
        "limitsMet", result.limitsMet().stream().map(ProviderReport::kebabCase).sorted().toList());
    return json;
  }

  static Map<String, ?> json(Exit exit) {
    Map<String, Object> json = new LinkedHashMap<>();
    switch (exit) {
      case Exit.Exited(int code) -> {
        json.put("kind", "exited");
        json.put("code", code);
      }
      case Exit.Signaled(var signal) -> {
        json.put("kind", "signaled");
        json.put("signal", signal.name());
        json.put("number", signal.number());
      }
      case Exit.TimedOut(var after) -> {
        json.put("kind", "timedOut");
        json.put("afterMs", after.toMillis());
      }
      case Exit.OutOfMemory() -> json.put("kind", "outOfMemory");
      case Exit.Lost(String why) -> {
        json.put("kind", "lost");
        json.put("why", why);
      }
    }
    return json;
  }
}
