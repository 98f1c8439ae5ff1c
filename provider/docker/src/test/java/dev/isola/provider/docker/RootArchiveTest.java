package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RootArchiveTest {
  private static final int SIZE = 1 << 20;

  @TempDir Path folder;

  private Image image() throws IOException {
    Path root = Files.createDirectories(folder.resolve("root"));
    Files.write(root.resolve("file"), new byte[SIZE]);
    return new ImageStore(folder.resolve("data")).importFrom("image", root);
  }

  /** Calls {@code action} when the first bytes of the archive arrive. */
  private static OutputStream during(AtomicLong bytes, Action action) {
    return new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
      }

      @Override
      public void write(byte[] from, int offset, int length) throws IOException {
        if (bytes.getAndAdd(length) == 0) {
          action.run();
        }
      }
    };
  }

  private interface Action {
    void run() throws IOException;
  }

  @Test
  void imageThatAnotherOneSharesFilesWithIsSent() throws IOException {
    Image image = image();
    AtomicLong bytes = new AtomicLong();
    new RootArchive(image)
        .writeTo(
            during(
                bytes,
                () -> Files.createLink(folder.resolve("shared"), image.rootfs().resolve("file"))));
    assertThat(bytes.get()).isGreaterThan(SIZE);
  }

  @Test
  void imageThatDisappearsIsNotSent() throws IOException {
    Image image = image();
    Path rootfs = image.rootfs();
    Files.move(rootfs, folder.resolve("moved"));
    assertThatThrownBy(() -> new RootArchive(image).writeTo(OutputStream.nullOutputStream()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tar exited with 2");
  }
}
