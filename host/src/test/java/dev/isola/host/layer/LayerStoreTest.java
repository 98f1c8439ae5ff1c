package dev.isola.host.layer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.link.local.AgentProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** N4: a layer exists exactly as long as it is referenced, even if processes are killed. */
class LayerStoreTest {
  /** A pid that no process has. */
  private static final AgentProcess DEAD_PROCESS = new AgentProcess(5_000_000, 1, false);

  private static final AgentProcess THIS =
      new AgentProcess(
          ProcessHandle.current().pid(),
          AgentProcess.startTimeOf(ProcessHandle.current().pid()).orElseThrow(),
          false);

  @TempDir Path folder;
  private Path layersFolder;
  private LayerStore layers;

  @BeforeEach
  void open() {
    layersFolder = folder.resolve("layers");
    layers = new LayerStore(layersFolder, ForkStepListener.NONE, LayerStoreTest::noDisks);
  }

  private static void noDisks(Path image, Path mount, List<String> within) {
    throw new AssertionError("there is no disk " + image);
  }

  private Path sandbox(String name) throws IOException {
    return Files.createDirectories(folder.resolve("sandboxes").resolve(name));
  }

  private String layer(String owner) throws IOException {
    String layer = layers.create(1000, owner, sandbox(owner), Optional.empty());
    Files.createDirectories(layers.tree(layer).resolve("a/b"));
    Files.writeString(layers.tree(layer).resolve("a/b/file"), "x");
    return layer;
  }

  private List<String> left() throws IOException {
    try (Stream<Path> all = Files.list(layersFolder)) {
      return all.map(path -> path.getFileName().toString()).toList();
    }
  }

  @Test
  void layerIsRemovedWithItsLastReference() throws IOException {
    String layer = layer("source");
    assertThat(layers.firstUserId(layer)).isEqualTo(1000);
    layers.acquire(List.of(layer), "fork", sandbox("fork"));
    layers.release(List.of(layer), "source");
    layers.sweep();
    assertThat(layers.tree(layer).resolve("a/b/file")).hasContent("x");
    layers.release(List.of(layer), "fork");
    assertThat(left()).isEmpty();
    layers.release(List.of(layer), "fork"); // idempotent
  }

  @Test
  void referenceOfAMissingFolderDoesNotCount() throws IOException {
    String layer = layer("source");
    layers.sweep();
    assertThat(left()).containsExactly(layer);
    Files.delete(sandbox("source")); // killed before the reference was removed
    layers.sweep();
    assertThat(left()).isEmpty();
  }

  @Test
  void leaseOfAKilledProcessDoesNotCount() throws IOException {
    String layer = layer("source");
    String held = layers.lease(List.of(layer));
    new LayerStore(layersFolder, DEAD_PROCESS, ForkStepListener.NONE, LayerStoreTest::noDisks)
        .lease(List.of(layer));
    layers.release(List.of(layer), "source");
    assertThat(left()).containsExactly(layer);
    layers.release(List.of(layer), held);
    assertThat(left()).isEmpty();
  }

  @Test
  void incompleteLayerOfALiveProcessIsKept() throws IOException {
    Path ours = draft(THIS, "a");
    Path orphaned = draft(DEAD_PROCESS, "b");
    Files.createDirectories(ours);
    Files.createDirectories(orphaned.resolve("tree/a"));
    layers.sweep();
    assertThat(ours).exists();
    assertThat(orphaned).doesNotExist();
  }

  private Path draft(AgentProcess maker, String layer) {
    return layersFolder.resolve("draft-" + maker.pid() + "-" + maker.startTime() + "-" + layer);
  }

  @Test
  void reusedPidDoesNotCount() throws IOException {
    AgentProcess earlier = new AgentProcess(THIS.pid(), THIS.startTime() - 1, false);
    String layer = layer("source");
    new LayerStore(layersFolder, earlier, ForkStepListener.NONE, LayerStoreTest::noDisks)
        .lease(List.of(layer));
    Files.createDirectories(draft(earlier, "b"));
    layers.release(List.of(layer), "source");
    layers.sweep();
    assertThat(left()).isEmpty();
  }

  @Test
  void usedLayerIsRestoredWhenItsRemoverWasKilled() throws IOException {
    String layer = layer("source");
    String other = layer("other");
    Files.move(layersFolder.resolve(layer), draft(DEAD_PROCESS, layer));
    Files.move(layersFolder.resolve(other), draft(DEAD_PROCESS, other));
    Files.delete(sandbox("other"));
    layers.sweep();
    assertThat(left()).containsExactly(layer);
  }

  @Test
  void incompleteReferenceDoesNotCount() throws IOException {
    String layer = layer("source");
    Files.writeString(layersFolder.resolve(layer).resolve("used-by/.fork"), "");
    layers.release(List.of(layer), "source");
    assertThat(left()).isEmpty();
  }

  @Test
  void releaseAllRemovesAllReferencesOfAUser() throws IOException {
    String one = layer("source");
    String two = layer("source");
    layers.acquire(List.of(one), "fork", sandbox("fork"));
    layers.releaseAll("source");
    assertThat(left()).containsExactly(one);
    assertThat(layers.tree(two)).doesNotExist();
  }

  @Test
  void missingLayerCannotBeAcquired() throws IOException {
    String layer = layer("source");
    assertThatThrownBy(
            () -> layers.acquire(List.of(layer, "0123456789abcdef"), "fork", sandbox("fork")))
        .isInstanceOf(NoSuchFileException.class);
    layers.release(List.of(layer), "source");
    assertThat(left()).isEmpty(); // the other was not acquired either
    new LayerStore(folder.resolve("none"), ForkStepListener.NONE, LayerStoreTest::noDisks).sweep();
    assertThat(folder.resolve("none")).doesNotExist();
  }
}
