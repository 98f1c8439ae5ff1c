package dev.isola.app;

import dev.isola.app.cli.CliCommand;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** Implements {@code isola bench} in a release, which contains no benchmarks. */
@Command(
    name = "bench",
    hidden = true,
    description = "Not included in releases: run ./isola bench in a clone of the repository.")
final class NoBenchCommand implements CliCommand {
  /** Accepts any option of the real command, so that every invocation ends in the same error. */
  @SuppressWarnings("UnusedVariable")
  @Unmatched
  private final List<String> arguments = new ArrayList<>();

  @Override
  public int run() {
    throw Fault.of(
            ErrorCode.NOT_IMPLEMENTED,
            "benchmarks are not included in releases",
            "run ./isola bench in a clone of the repository")
        .exception();
  }
}
