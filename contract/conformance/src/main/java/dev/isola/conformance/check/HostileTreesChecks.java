package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import java.time.Duration;
import java.util.Collections;

/** Checks that no files created by a guest process can prevent the destruction of its sandbox. */
public final class HostileTreesChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /**
   * Nests folders deeper than the maximum path length, using only short paths: each round moves the
   * existing chain to the bottom of a new one.
   */
  private static Command nested(int rounds, int each, String name) {
    String chain = String.join("/", Collections.nCopies(each, name));
    StringBuilder script = new StringBuilder("set -e; mkdir whole; ");
    for (int i = 0; i < rounds; i++) {
      script.append("mkdir -p above/$c; echo x > above/$c/file; mv whole above/$c/next; ");
      script.append("mv above whole; ");
    }
    return Command.shell("c=" + chain + "; " + script).withTimeout(TIMEOUT);
  }

  private static void destroyed(CheckContext check, Sandbox sandbox, ExecResult made) {
    Expect.that(made.succeeded(), "the tree is made: " + made);
    check.provider().destroy(sandbox.id(), DestroyOptions.NORMAL);
    Expect.that(
        check.provider().inventory().stream().noneMatch(found -> found.id().equals(sandbox.id())),
        "nothing of the sandbox is left in the inventory");
    Expect.that(
        check.provider().attach(sandbox.id()).isEmpty(), "the sandbox cannot be attached to");
  }

  @Check(value = "P4", tools = "mv")
  public void pathsLongerThanTheKernelTakesDoNotPreventDestroy(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec);
    destroyed(check, sandbox, sandbox.run(nested(6, 10, "n".repeat(200))));
  }

  @Check(value = "P4", tools = "mv")
  public void deepTreesDoNotPreventDestroy(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec);
    destroyed(check, sandbox, sandbox.run(nested(4, 500, "d")));
  }

  @Check(
      value = "P4",
      tools = {"chmod", "ln"})
  public void directoriesWithoutRightsDoNotPreventDestroy(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec);
    ExecResult made =
        sandbox.run(
            Command.shell(
                "mkdir -p a/b/c/d/e/f/g/h/i/j && echo x > a/b/c/d/e/f/g/h/i/j/file"
                    + " && ln -s / a/root && ln -s .. a/up && chmod 0 a/b/c/d/e/f/g/h/i/j a/b a"));
    destroyed(check, sandbox, made);
  }
}
