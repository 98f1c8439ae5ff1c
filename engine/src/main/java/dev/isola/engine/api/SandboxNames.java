package dev.isola.engine.api;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.regex.Pattern;

/** The rules for names that clients give sandboxes. */
public final class SandboxNames {
  /** As a regular expression. */
  public static final String PATTERN = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}";

  private static final Pattern NAME = Pattern.compile(PATTERN);

  /** A generated id. A name of this form would be taken for one. */
  private static final Pattern GENERATED_ID = Pattern.compile("[a-z0-9]{20}");

  private SandboxNames() {}

  /**
   * Checks a name.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it is not a valid name
   */
  static void check(String name) {
    if (!NAME.matcher(name).matches()) {
      throw invalid(
          "the name of a sandbox must be 1 to 63 letters, digits, '.', '_' and '-', and begin with"
              + " a letter or digit",
          "use a name such as web or build-2");
    }
    if (GENERATED_ID.matcher(name).matches()) {
      throw invalid(
          "the name '" + name + "' looks like a generated sandbox id",
          "use a name that is not 20 lower-case letters and digits");
    }
  }

  private static SandboxException invalid(String problem, String remedy) {
    return Fault.of(ErrorCode.INVALID_SPEC, problem, remedy).with("field", "name").exception();
  }
}
