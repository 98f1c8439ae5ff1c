package dev.isola.engine.config;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;

/** What came of reading a configuration. */
public sealed interface ConfigResult {
  record Good(Config config) implements ConfigResult {}

  /** Everything that is wrong with it, in the order of the sources. */
  record Bad(List<Problem> problems) implements ConfigResult {
    public Bad {
      problems = List.copyOf(problems);
    }
  }

  /**
   * Returns the configuration.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming everything that is wrong
   */
  default Config orThrow() {
    return switch (this) {
      case Good(Config config) -> config;
      case Bad(List<Problem> problems) ->
          throw Fault.of(
                  ErrorCode.INVALID_REQUEST,
                  "the configuration is invalid: "
                      + String.join("; ", problems.stream().map(Problem::toString).toList()),
                  "see docs/config.md")
              .exception();
    };
  }
}
