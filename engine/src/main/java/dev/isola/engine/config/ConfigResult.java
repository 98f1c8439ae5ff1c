package dev.isola.engine.config;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;

/** The result of reading a configuration. */
public sealed interface ConfigResult {
  record Valid(Config config) implements ConfigResult {}

  /** All problems, in the order of the inputs. */
  record Invalid(List<ConfigProblem> problems) implements ConfigResult {
    public Invalid {
      problems = List.copyOf(problems);
    }
  }

  /**
   * Returns the configuration.
   *
   * @throws dev.isola.spi.error.InvalidRequest listing all problems, if the configuration is
   *     invalid
   */
  default Config orThrow() {
    return switch (this) {
      case Valid(Config config) -> config;
      case Invalid(List<ConfigProblem> problems) ->
          throw Fault.of(
                  ErrorCode.INVALID_REQUEST,
                  "the configuration is invalid: "
                      + String.join("; ", problems.stream().map(ConfigProblem::toString).toList()),
                  "see docs/config.md")
              .exception();
    };
  }
}
