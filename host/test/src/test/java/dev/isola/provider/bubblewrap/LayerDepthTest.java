package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.Sandbox;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Consecutive forks with changes between them: none is refused, and layers do not accumulate. */
@Tag("all")
final class LayerDepthTest extends ForkTestBase {
  private static final int FORKS = 100;

  /** A chain takes longer, because each sandbox is new and has its own ids. */
  private static final int CHAIN = Boolean.getBoolean("isola.long") ? 100 : 40;

  /** Layers of several merges: running ones and those that running sandboxes use. */
  private static final int MOST_LAYERS = 64;

  private static final String DESCRIBE =
      "find . -printf '%p %y %m %U %G %T@ %l\\n' | sort"
          + " && find . -type f -print0 | sort -z | xargs -0 -r sha256sum";

  private static Sandbox fork(Sandbox source, String id) {
    try (ForkPoint origin = source.as(Forking.class).orElseThrow().createForkPoint()) {
      return origin.create(spec(id));
    }
  }

  private static void furnish(Sandbox source) {
    output(
        source,
        "for d in a b c; do mkdir $d; for i in 1 2 3 4 5; do echo $d$i > $d/$i; done; done; ln a/1"
            + " a/same; ln -s 1 a/link; chown 1000:1000 b/2; chmod 4755 b/3; echo 0 > count");
  }

  /** A change of each kind in turn. */
  private static void change(Sandbox sandbox, int i) {
    String more =
        switch (i % 8) {
          case 0 -> "mkdir -p d" + i + "/x; echo " + i + " > d" + i + "/x/y";
          case 1 -> "rm -rf d" + (i - 1) + "/x";
          case 2 -> "mv b b2; mv b2 b; mv c/1 c/one; mv c/one c/1";
          case 3 -> "rm -rf c; mkdir c; for i in 1 2; do echo new > c/$i; done";
          case 4 -> "mv a a" + i + "; mkdir a; mv a" + i + "/* a; rmdir a" + i;
          case 5 -> "chmod 711 b; echo " + i + " >> b/1; touch -d 2001-02-03 b/4";
          case 6 -> "mv a moved; echo in > moved/in" + i + "; mv moved a";
          default -> "rm -f a/in*; ln -sf x" + i + " link; chown 7:8 link -h";
        };
    output(sandbox, more + "; echo " + i + " > count");
  }

  private List<Path> layers() throws IOException {
    try (Stream<Path> all = Files.list(installation.data().resolve("layers"))) {
      return all.toList();
    }
  }

  private int listed(String id) throws IOException {
    return Files.readAllLines(
            installation.data().resolve("sandboxes").resolve(id).resolve("layers"))
        .size();
  }

  @Test
  void repeatedForksOfOneSandboxStayShallow() throws IOException {
    Sandbox source = make("source");
    furnish(source);
    int deepest = 0;
    for (int i = 1; i <= FORKS; i++) {
      change(source, i);
      String now = output(source, DESCRIBE);
      Sandbox fork = fork(source, "fork" + i);
      assertThat(output(fork, DESCRIBE)).as("fork %d", i).isEqualTo(now);
      assertThat(output(source, DESCRIBE)).as("the source after fork %d", i).isEqualTo(now);
      deepest = Math.max(deepest, listed("source"));
      provider.destroy(fork.id(), DestroyOptions.FORCE);
      assertThat(layers()).hasSizeLessThan(MOST_LAYERS);
    }
    assertThat(deepest).isBetween(16, MOST_LAYERS);
    end();
  }

  @Test
  void chainOfForksStaysShallow() throws IOException {
    Sandbox last = make("fork0");
    furnish(last);
    for (int i = 1; i <= CHAIN; i++) {
      change(last, i);
      String now = output(last, DESCRIBE);
      Sandbox next = fork(last, "fork" + i);
      assertThat(output(next, DESCRIBE)).as("fork %d", i).isEqualTo(now);
      provider.destroy(last.id(), DestroyOptions.FORCE);
      assertThat(layers()).hasSizeLessThan(MOST_LAYERS);
      last = next;
    }
    end();
  }

  @Test
  void sourceKeepsItsFilesAcrossMerges() throws IOException {
    Sandbox source = make("source");
    furnish(source);
    Sandbox early = fork(source, "early");
    String then = output(early, DESCRIBE);
    for (int i = 1; i <= 40; i++) {
      change(source, i);
      try (ForkPoint origin = source.as(Forking.class).orElseThrow().createForkPoint()) {
        assertThat(origin.frozenFor()).isPositive();
      }
    }
    assertThat(output(early, DESCRIBE)).isEqualTo(then);
    provider.destroy(source.id(), DestroyOptions.FORCE);
    assertThat(output(early, DESCRIBE)).isEqualTo(then);
    assertThat(layers()).hasSize(1);
    end();
  }

  private void end() throws IOException {
    provider.inventory().forEach(one -> provider.destroy(one.id(), DestroyOptions.FORCE));
    assertThat(layers()).isEmpty();
    assertThat(leaks.leakedSince(before)).isEmpty();
  }
}
