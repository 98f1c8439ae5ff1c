package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.spec.VolumeMount;
import java.util.List;

/** Checks that volumes are created, listed and destroyed without a sandbox. */
public final class VolumesChecks {

  private static Volumes volumes(CheckContext check) {
    return check
        .provider()
        .volumes()
        .orElseThrow(() -> new CheckFailed("declared but not implemented: volumes"));
  }

  private static String name(CheckContext check) {
    return "kit-" + check.spec().build().id();
  }

  private static VolumeMount mounted(String name) {
    return new VolumeMount(VolumeMount.Type.VOLUME, name, "/workspace/data", false);
  }

  /** Runs a command in a new sandbox that mounts the volume, and returns its output. */
  private static String within(CheckContext check, String name, String shell) {
    Sandbox sandbox = check.create(spec -> spec.volume(mounted(name)));
    ExecResult result;
    try {
      result = sandbox.run(Command.shell(shell));
    } finally {
      check.provider().destroy(sandbox.id(), DestroyOptions.FORCE);
    }
    Expect.that(result.succeeded(), "'" + shell + "' succeeds, but " + result);
    return result.stdout().text();
  }

  @Check(value = "S1", needs = Volumes.class)
  public void aCreatedVolumeIsListedMountedAndDestroyed(CheckContext check) {
    String name = name(check);
    Volumes volumes = volumes(check);
    volumes.create(name);
    volumes.create(name);
    try {
      Expect.that(volumes.list().contains(name), "a created volume is listed");
      Expect.equal(1L, volumes.list().stream().filter(name::equals).count(), "how often");
      Expect.equal(
          "", within(check, name, "find data -mindepth 1; echo kept > data/file"), "its content");
      volumes.create(name);
      Expect.equal(
          "kept\n", within(check, name, "cat data/file"), "the content of one that exists");
    } finally {
      volumes.destroy(name);
    }
    Expect.that(!volumes.list().contains(name), "a destroyed volume is not listed");
  }

  @Check(value = "S1", needs = Volumes.class)
  public void recreatedVolumeIsEmpty(CheckContext check) {
    String name = name(check);
    Volumes volumes = volumes(check);
    within(check, name, "mkdir -p data/a/b; echo old > data/a/b/file; ln -s / data/root");
    Expect.that(volumes.list().contains(name), "a volume that a sandbox made is listed");
    volumes.destroy(name);
    Expect.that(!volumes.list().contains(name), "a destroyed volume is not listed");
    try {
      Expect.equal(
          "", within(check, name, "find data -mindepth 1"), "the content of one of the same name");
    } finally {
      volumes.destroy(name);
    }
  }

  @Check(value = "S1", needs = Volumes.class)
  public void destroyingAVolumeLeavesOthers(CheckContext check) {
    String name = name(check);
    String longer = name + "-2";
    Volumes volumes = volumes(check);
    volumes.destroy(name); // the volume does not exist
    within(check, longer, "echo kept > data/file");
    try {
      volumes.create(name);
      volumes.destroy(name);
      volumes.destroy(name);
      Expect.equal("kept\n", within(check, longer, "cat data/file"), "the content of the other");
    } finally {
      volumes.destroy(longer);
    }
  }

  @Check(value = "S1", needs = Volumes.class)
  public void namesThatLeadElsewhereAreRefused(CheckContext check) {
    Volumes volumes = volumes(check);
    List<String> before = volumes.list();
    for (String wrong : List.of("", ".", "..", "../x", "a/b", "/etc", "a b", "a\0", "-a")) {
      Expect.thrown("create of '" + wrong + "'", () -> volumes.create(wrong), InvalidRequest.class);
      Expect.thrown(
          "destroy of '" + wrong + "'", () -> volumes.destroy(wrong), InvalidRequest.class);
    }
    Expect.equal(before, volumes.list(), "the volumes afterwards");
  }

  @Check(value = "S1", needs = Volumes.class)
  public void volumesAreSeenByAnotherProcess(CheckContext check) {
    String name = name(check);
    volumes(check).create(name);
    Volumes other = check.anotherProcess().volumes().orElseThrow();
    Expect.that(other.list().contains(name), "another process of the instance lists it");
    other.destroy(name);
    Expect.that(!volumes(check).list().contains(name), "what another process destroyed is gone");
  }
}
