package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.util.UUID;

/**
 * Checks that a declared disk limit holds no matter how files are written: the kernel or the
 * backend rejects writes that exceed it, without relying on periodic measurement. Not run if the
 * limit is not declared.
 */
public final class QuotaChecks {
  private static final int LIMIT_MB = 32;

  /** A file system may round up slightly. */
  private static final long MAX_BYTES = 36_000_000;

  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  /** Writes up to 80 files of 4 MB, each of which fits, until a write fails. */
  private static final String FILL =
      "i=0; while test $i -lt 80 && head -c 4000000 /dev/zero 2>/dev/null > big$i;"
          + " do i=$((i+1)); done; ";

  private static final String COUNT = "cat big* | wc -c";

  private static final ResourceLimits LIMITS = ResourceLimits.DEFAULT.withDiskMb(LIMIT_MB);

  private static void requireDiskLimit(CheckContext check) {
    if (!check.info().support().enforcedLimits().contains(LimitKind.DISK)) {
      throw check.notRun("the provider does not declare disk as enforced");
    }
  }

  private static Sandbox limited(CheckContext check) {
    requireDiskLimit(check);
    return check.create(spec -> spec.limits(LIMITS));
  }

  private static long number(Sandbox sandbox, String script) {
    ExecResult result = sandbox.run(Command.shell(script).withTimeout(TIMEOUT));
    String text = result.stdout().text().strip();
    Expect.that(text.matches("[0-9]+"), "the script says a number: " + result);
    return Long.parseLong(text);
  }

  private static void expectWithinLimit(long bytes) {
    Expect.that(bytes <= MAX_BYTES, LIMIT_MB + " MB are written at most, not " + bytes + " bytes");
    Expect.that(bytes >= 8_000_000, "some are written, not " + bytes + " bytes");
  }

  private static void expectUsable(Sandbox sandbox) {
    ExecResult after = sandbox.run(Command.shell("rm -rf big* d; echo works > small; cat small"));
    Expect.equal("works\n", after.stdout().text(), "a command after files were removed");
  }

  @Check(value = "S2", tools = "while")
  public void writerWithoutOutputIsLimited(CheckContext check) {
    Sandbox sandbox = limited(check);
    expectWithinLimit(number(sandbox, FILL + COUNT));
    expectUsable(sandbox);
  }

  @Check(
      value = "S2",
      tools = {"while", "setsid"})
  public void writerInAnotherSessionIsLimited(CheckContext check) {
    Sandbox sandbox = limited(check);
    ExecResult started =
        sandbox.run(
            Command.shell(
                "echo > writing; setsid sh -c '"
                    + FILL
                    + "rm writing' < /dev/null > /dev/null 2>&1 &"));
    Expect.that(started.succeeded(), "the writer is started: " + started);
    Expect.eventually(
        TIMEOUT, "the writer meets the limit and ends", () -> !sandbox.files().exists("writing"));
    expectWithinLimit(number(sandbox, COUNT));
    expectUsable(sandbox);
  }

  @Check(value = "S2", tools = "while")
  public void unlinkedOpenFilesAreLimited(CheckContext check) {
    Sandbox sandbox = limited(check);
    long files =
        number(
            sandbox,
            "exec 3>a 4>b 5>c 6>e 7>g 8>h; rm a b c e g h; whole=0;"
                + " for fd in 3 4 5 6 7 8; do head -c 20000000 /dev/zero 2>/dev/null >&$fd"
                + " && whole=$((whole+1)); done; echo $whole");
    Expect.that(files <= 1, "one of 20 MB fits into " + LIMIT_MB + " MB, not " + files);
    expectUsable(sandbox);
  }

  @Check(value = "S2", tools = "while")
  public void deepFoldersAreLimited(CheckContext check) {
    Sandbox sandbox = limited(check);
    expectWithinLimit(
        number(
            sandbox,
            "i=0; while test $i -lt 300; do mkdir d && cd d || exit 9; i=$((i+1)); done; "
                + FILL
                + COUNT));
    expectUsable(sandbox);
  }

  @Check(value = "S2", tools = "while")
  public void volumesAreLimited(CheckContext check) {
    requireDiskLimit(check);
    if (!check.info().support().volumeTypes().contains(VolumeMount.Type.VOLUME)) {
      throw check.notRun("the provider has no named volumes");
    }
    String name = "quota-" + UUID.randomUUID();
    VolumeMount volume = new VolumeMount(VolumeMount.Type.VOLUME, name, "/volume", false);
    Sandbox sandbox = check.create(spec -> spec.limits(LIMITS).volume(volume));
    expectWithinLimit(number(sandbox, "cd /volume; " + FILL + COUNT));
    sandbox.run(Command.shell("rm /volume/big*; echo kept > /volume/file"));
    Sandbox other = check.create(spec -> spec.limits(LIMITS).volume(volume));
    Expect.equal(
        "kept\n",
        other.run(Command.shell("cat /volume/file; rm /volume/file")).stdout().text(),
        "what another sandbox sees in the volume");
  }

  @Check(value = "S2", tools = "while")
  public void emptyFilesAreLimited(CheckContext check) {
    Sandbox sandbox = limited(check);
    long files =
        number(
            sandbox,
            "mkdir d; i=0; while test $i -lt 60000 && true 2>/dev/null > d/$i; do i=$((i+1)); done;"
                + " echo $i");
    Expect.that(files < 60_000, "60,000 files do not fit into " + LIMIT_MB + " MB");
    Expect.that(files >= 500, "some do, not " + files);
    expectUsable(sandbox);
  }

  /** A tmpfs does not use the disk, but the number of empty files must be limited there as well. */
  @Check(value = "S2", tools = "while")
  public void emptyFilesInMemoryAreLimited(CheckContext check) {
    if (check.info().isolation() != Isolation.CONTAINER) {
      throw check.notRun("the memory of a kernel of its own is limited as a whole");
    }
    Sandbox sandbox = limited(check);
    String script =
        "cd /; while read -r from point type options rest; do case $type,$options in tmpfs,rw*)"
            + " test -w $point && mkdir $point/quota 2>/dev/null || continue; i=0;"
            + " while test $i -lt 60000 && true 2>/dev/null > $point/quota/$i; do i=$((i+1)); done;"
            + " rm -rf $point/quota; echo $i $point;; esac; done < /proc/mounts";
    ExecResult result = sandbox.run(Command.shell(script).withTimeout(TIMEOUT));
    Expect.that(result.succeeded(), "the script counts: " + result);
    String counted = result.stdout().text();
    Expect.that(counted.contains("/dev/shm"), "there is a writable tmpfs: " + result);
    Expect.that(!counted.contains("60000 "), "each takes fewer than 60,000 files: " + counted);
  }
}
