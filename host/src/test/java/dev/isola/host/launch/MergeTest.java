package dev.isola.host.launch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.layer.LayerStore;
import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** N4: a merged layer shows the same files as the kernel's overlay of its layers. */
class MergeTest {
  private static final String DESCRIBE =
      "find . -printf '%p %y %m %U %G %T@ %l\\n"
          + "' | sort; find . -type f -exec sha256sum {} + | sort";

  /** Files, and the changes of each layer. */
  private static final List<String> CHANGES =
      List.of(
          "mkdir -p a/b c d/e f; for p in a/1 a/b/2 c/3 d/e/4 f/5 6; do echo $p > $p; done;"
              + " ln a/1 a/same; mkfifo pipe; truncate -s 3M sparse; echo end >> sparse",
          "rm a/1; rm -rf c; mkdir c; echo new > c/7; echo more >> d/e/4; rm -rf f; echo x > f",
          "rm f; mkdir f; echo under > f/8; rm -rf a/b; echo file > a/b; chmod 711 d; chown 5:6 6",
          "rm c/7; ln -s 6 c/7; touch -d 2001-02-03 d/e/4; rm -rf f; mkdir -p a/n/m; echo 9 >"
              + " a/n/9");

  private static final String RENAMES =
      "mv d/e moved; mv a d/a; mv d/a/n d/n; mkdir a; echo other > a/1; mv c c2; mv moved c";

  @TempDir Path folder;

  @BeforeEach
  void install() throws Exception {
    Assumptions.assumeTrue(
        SandboxUserIds.rangesAvailable()
            && say("mkdir l u w m; " + overlay("m", "u", List.of("l"))).status() == 0,
        "NOT RUN: no overlay can be mounted here");
  }

  /** The result of a script in a private mount namespace. */
  private record Said(int status, String text) {}

  private Said say(String script) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("unshare", "-m", "sh", "-ec", script)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String text = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Said(process.waitFor(), text);
  }

  private String run(String script) throws IOException, InterruptedException {
    Said answer = say(script);
    assertThat(answer.status()).as(script).isZero();
    return answer.text();
  }

  private static String overlay(String mount, String upper, List<String> lowers) {
    return ("mount -t overlay o " + mount + " -o redirect_dir=on,lowerdir=")
        + String.join(":", lowers.reversed())
        + (",upperdir=" + upper + ",workdir=w");
  }

  /** Creates the layers l0, l1, ... and returns what their overlay shows. */
  private String layers(List<String> changes) throws Exception {
    run("mkdir l0; cd l0; " + changes.getFirst());
    List<String> below = new ArrayList<>(List.of("l0"));
    for (int i = 1; i < changes.size(); i++) {
      run(
          ("rm -rf w; mkdir w l" + i + "; " + overlay("m", "l" + i, below))
              + ("; cd m; " + changes.get(i)));
      below.add("l" + i);
    }
    return seen(below);
  }

  private String seen(List<String> layers) throws Exception {
    return run(
        "rm -rf w u; mkdir w u; "
            + (overlay("m", "u", layers) + "; chmod --reference=" + layers.getLast() + " m;")
            + (" touch -r " + layers.getLast() + " m; cd m; " + DESCRIBE));
  }

  /** Merges layers from {@code first} on into {@code merged}; returns the launcher's answer. */
  private String merge(int first, int count) throws Exception {
    Path tree = Files.createDirectory(folder.resolve("merged"));
    Path spare = Files.createDirectory(folder.resolve("spare"));
    Map<Path, Long> from = new LinkedHashMap<>();
    for (int i = first; i < count; i++) {
      from.put(folder.resolve("l" + i), 0L);
    }
    LaunchPlan plan =
        new LaunchPlan()
            .add(
                new LayerStore.MergeRequest(tree, spare, 0, from, first > 0, Optional.empty(), tree)
                    .step("merge"));
    Path programs = folder.resolve("bin");
    try (Launcher launcher =
        new Launcher(LauncherBinary.in(programs), programs, new InstanceId("test"))) {
      return launcher.execute(plan.encode(), Duration.ofSeconds(20));
    }
  }

  private static List<String> and(List<String> changes, String more) {
    List<String> all = new ArrayList<>(changes);
    all.add(more);
    all.add("echo last > a/last; rm -f c/4");
    return all;
  }

  @Test
  void mergesAllLayers() throws Exception {
    String all = layers(CHANGES);
    assertThat(merge(0, CHANGES.size())).startsWith("done").endsWith("copied=0");
    assertThat(seen(List.of("merged"))).isEqualTo(all);
  }

  @Test
  void mergesLayersAboveAnotherLayer() throws Exception {
    String all = layers(CHANGES);
    assertThat(merge(1, CHANGES.size())).startsWith("done");
    assertThat(seen(List.of("l0", "merged"))).isEqualTo(all);
  }

  @Test
  void mergesRenamedFolders() throws Exception {
    List<String> changes = and(CHANGES, RENAMES);
    String all = layers(changes);
    assertThat(merge(0, changes.size())).startsWith("done");
    assertThat(seen(List.of("merged"))).isEqualTo(all);
    assertThat(folder.resolve("spare")).doesNotExist();
  }

  @Test
  void refusesFoldersRenamedFromALowerLayer() throws Exception {
    List<String> changes = and(CHANGES, RENAMES);
    layers(changes);
    assertThat(merge(1, changes.size())).isEqualTo("error a folder was renamed");
  }

  /** Positive control: copying one folder over the other is not enough. */
  @Test
  void plainCopyDiffersFromTheOverlay() throws Exception {
    String all = layers(CHANGES);
    run("mkdir merged; for l in l0 l1 l2 l3; do cp -a --force $l/. merged || true; done");
    assertThat(seen(List.of("merged"))).isNotEqualTo(all);
  }
}
