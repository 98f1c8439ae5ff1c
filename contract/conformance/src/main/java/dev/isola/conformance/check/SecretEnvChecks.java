package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;

/** Checks that secret variables reach commands like any other variable, and appear nowhere else. */
public final class SecretEnvChecks {
  private static final String VALUE = "kit-secret-51c0";

  @Check("X2")
  public void secretVariablesReachEveryCommand(CheckContext check) {
    Sandbox sandbox =
        check.create(spec -> spec.env("KIT_PLAIN", "plain").secretEnv("KIT_KEY", Secret.of(VALUE)));
    Expect.equal(
        "plain " + VALUE + "\n",
        sandbox.run(Command.shell("echo $KIT_PLAIN $KIT_KEY")).stdout().text(),
        "the variables of a command");
    Expect.equal(
        "other\n",
        sandbox.run(Command.shell("echo $KIT_KEY").withEnv("KIT_KEY", "other")).stdout().text(),
        "a command's own variable of that name");
  }

  @Check("X2")
  public void secretVariablesAreNotPrinted(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec.secretEnv("KIT_KEY", Secret.of(VALUE)));
    Expect.that(!sandbox.toString().contains(VALUE), "a sandbox does not print them");
    Expect.that(
        !check.provider().inventory().toString().contains(VALUE),
        "the inventory does not print them");
    Expect.that(!check.provider().toString().contains(VALUE), "the provider does not print them");
  }
}
