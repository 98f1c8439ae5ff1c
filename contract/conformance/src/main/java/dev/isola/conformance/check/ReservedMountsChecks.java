package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.ReservedPaths;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that no mount requested by a client replaces the guest agent or the folders of the kernel.
 */
public final class ReservedMountsChecks {
  private static final String MARKER = "planted";

  private static List<String> spellings() {
    List<String> all = new ArrayList<>();
    for (String path : ReservedPaths.ALL) {
      all.addAll(List.of(path, path + "/", "/" + path, "/." + path, path + "/below"));
    }
    return all;
  }

  @Check("S1")
  public void noVolumeIsMountedOnAReservedPath(CheckContext check) {
    for (VolumeMount.Type type : check.info().support().volumeTypes()) {
      String source =
          switch (type) {
            case BIND -> "/";
            case VOLUME -> "kit-reserved";
            case TMPFS -> "";
          };
      for (String path : spellings()) {
        VolumeMount volume = new VolumeMount(type, source, path, false);
        Expect.thrown(
            "a volume at " + path,
            () -> check.create(spec -> spec.volume(volume)),
            InvalidRequest.class);
      }
    }
  }

  @Check("S1")
  public void noWorkspaceIsMountedOnAReservedPath(CheckContext check) {
    for (String path : spellings()) {
      Expect.thrown(
          "a workspace at " + path,
          () -> check.create(spec -> spec.workspaceMount(path)),
          InvalidRequest.class);
    }
  }

  /**
   * Mounts a second volume on a link inside the first. The create must fail, or the sandbox must
   * not see the second volume at the target of the link.
   */
  @Check("S1")
  public void noLinkLeadsAVolumeOverTheAgent(CheckContext check) throws IOException {
    if (!check.info().support().volumeTypes().contains(VolumeMount.Type.BIND)) {
      throw check.notRun("the provider does not declare volumes of type bind");
    }
    List<String> targets = new ArrayList<>(ReservedPaths.ALL);
    targets.add("/");
    for (String target : targets) {
      overLink(check, target);
    }
  }

  private static void overLink(CheckContext check, String target) throws IOException {
    Path links = Files.createTempDirectory("isola-links");
    Path overlay = Files.createTempDirectory("isola-planted");
    try {
      Files.createSymbolicLink(links.resolve("link"), Path.of(target));
      Files.writeString(overlay.resolve(MARKER), "");
      VolumeMount first = VolumeMount.bind(links.toString(), "/workspace/v", false);
      VolumeMount second = VolumeMount.bind(overlay.toString(), "/workspace/v/link", true);
      Sandbox sandbox;
      try {
        sandbox = check.create(spec -> spec.volume(first).volume(second));
      } catch (SandboxException refused) {
        return;
      }
      Expect.that(
          !sandbox.run(Command.argv("test", "-e", target + "/" + MARKER)).succeeded(),
          "a volume mounted through a link to " + target + " is not what the sandbox sees there");
    } finally {
      Files.deleteIfExists(links.resolve("link"));
      Files.deleteIfExists(links);
      Files.deleteIfExists(overlay.resolve(MARKER));
      Files.deleteIfExists(overlay);
    }
  }

  @Check("S1")
  public void theAgentsDirectoryCannotBeReplacedFromInside(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec);
    if (!sandbox.run(Command.shell("test -x /.isola/agent")).succeeded()) {
      throw check.notRun("the sandbox has no /.isola/agent");
    }
    sandbox.run(
        Command.shell(
            "mv /.isola /was; rm -f /.isola/agent; ln -s /bin/sh /.isola/agent; : > /.isola/new"));
    Expect.that(
        sandbox
            .run(Command.shell("test -x /.isola/agent && ! test -e /.isola/new && ! test -e /was"))
            .succeeded(),
        "the directory of the agent is as it was");
  }
}
