package dev.isola.snapshot.blob;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The behaviour of every blob store. */
public abstract class BlobStoreContract {
  @TempDir protected Path folder;
  private BlobStore blobs;
  private BlobStore.Claim claim;

  /** Opens the same store each time; it is empty at first. */
  protected abstract BlobStore location() throws IOException;

  @BeforeEach
  void claim() throws IOException {
    blobs = location();
    claim = blobs.claim(work("work"));
  }

  @AfterEach
  void release() throws IOException {
    claim.close();
  }

  private Path work(String name) throws IOException {
    return Files.createDirectories(folder.resolve(name));
  }

  private Path file(byte[] content) throws IOException {
    return Files.write(Files.createTempFile(folder, "staged", ".new"), content);
  }

  @Test
  void storesBlobs() throws IOException {
    byte[] content = new byte[3_000_000];
    new Random(1).nextBytes(content);
    blobs.put("packs/a", file(content));
    assertThat(blobs.size("packs/a")).isEqualTo(content.length);
    assertThat(blobs.read("packs/a", 0, content.length)).isEqualTo(content);
    assertThat(blobs.read("packs/a", 1_234_567, 1000))
        .isEqualTo(Arrays.copyOfRange(content, 1_234_567, 1_235_567));
    assertThat(blobs.read("packs/a", 5, 0)).isEmpty();
    blobs.put("packs/a", file("other".getBytes(UTF_8)));
    assertThat(blobs.read("packs/a", 0, 5)).isEqualTo("other".getBytes(UTF_8));
    blobs.put("packs/empty", file(new byte[0]));
    assertThat(blobs.size("packs/empty")).isZero();
  }

  @Test
  void createFailsForAnExistingName() throws IOException {
    blobs.create("snapshots/a", file("first".getBytes(UTF_8)));
    assertThatThrownBy(() -> blobs.create("snapshots/a", file("second".getBytes(UTF_8))))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(blobs.read("snapshots/a", 0, 5)).isEqualTo("first".getBytes(UTF_8));
  }

  @Test
  void missingBlobsAreReported() throws IOException {
    assertThatThrownBy(() -> blobs.size("packs/no")).isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> blobs.read("packs/no", 0, 1)).isInstanceOf(NoSuchFileException.class);
    blobs.remove("packs/no");
    blobs.put("packs/short", file("12345".getBytes(UTF_8)));
    assertThatThrownBy(() -> blobs.read("packs/short", 3, 3)).isInstanceOf(EOFException.class);
    assertThatThrownBy(() -> blobs.read("packs/short", 5, 1)).isInstanceOf(EOFException.class);
    assertThatThrownBy(() -> blobs.read("packs/short", 50, 1)).isInstanceOf(EOFException.class);
  }

  @Test
  void listsNamesInOrder() throws IOException {
    assertThat(blobs.list("packs")).isEmpty();
    for (String name : List.of("packs/b", "snapshots/x", "packs/a", "packs/c")) {
      blobs.put(name, file(name.getBytes(UTF_8)));
    }
    assertThat(blobs.list("packs")).containsExactly("packs/a", "packs/b", "packs/c");
    blobs.remove("packs/b");
    assertThat(blobs.list("packs")).containsExactly("packs/a", "packs/c");
    assertThat(blobs.list("snapshots")).containsExactly("snapshots/x");
  }

  @Test
  void hasOneOwner() throws IOException {
    assertThatThrownBy(() -> location().claim(work("other")))
        .isInstanceOf(AlreadyClaimedException.class);
    blobs.put("packs/a", file(new byte[1]));
    claim.close();
    location().claim(work("other")).close();
    claim = location().claim(work("work"));
  }
}
