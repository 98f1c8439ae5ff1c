package dev.isola.spi.file;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.NotFound;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** F1: the default methods of the file system. */
class FileSystemTest {
  private final Map<String, byte[]> files = new HashMap<>();
  private final FileSystem system =
      (FileSystem)
          Proxy.newProxyInstance(
              FileSystem.class.getClassLoader(), new Class<?>[] {FileSystem.class}, handler());

  @Test
  void existsDistinguishesAMissingFileFromAMissingSandbox() {
    files.put("a", new byte[0]);

    assertThat(system.exists("a")).isTrue();
    assertThat(system.exists("b")).isFalse();
    assertThatExceptionOfType(NotFound.class)
        .isThrownBy(() -> system.exists("destroyed"))
        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.SANDBOX_NOT_FOUND));
  }

  @Test
  void readBytesRejectsMoreThanItsLimit() {
    files.put("ten", new byte[10]);

    assertThat(system.readBytes("ten", 10)).hasSize(10);
    assertThat(system.readBytes("ten", Integer.MAX_VALUE)).hasSize(10);
    assertThatExceptionOfType(LimitExceeded.class)
        .isThrownBy(() -> system.readBytes("ten", 9))
        .withMessage("ten is larger than 9 bytes; read it as a stream, or raise the limit")
        .satisfies(e -> assertThat(e.context()).containsEntry("limit", "9"));
  }

  @Test
  void textUsesItsCharset() {
    system.writeText("u", "größe", UTF_8);
    system.writeText("l", "größe", ISO_8859_1);

    assertThat(files.get("u")).hasSize(7);
    assertThat(files.get("l")).hasSize(5);
    assertThat(system.readText("u", UTF_8, 100)).isEqualTo("größe");
    assertThat(system.readText("l", ISO_8859_1, 100)).isEqualTo("größe");
  }

  private InvocationHandler handler() {
    return (proxy, method, arguments) -> {
      if (method.isDefault()) {
        return InvocationHandler.invokeDefault(proxy, method, arguments);
      }
      String path = (String) arguments[0];
      return switch (method.getName()) {
        case "stat" -> stat(path);
        case "read" -> read(path, (ReadRange) arguments[1]);
        case "write" -> write(path, (InputStream) arguments[1]);
        default -> throw new AssertionError("not expected: " + method);
      };
    };
  }

  private FileInfo stat(String path) {
    byte[] content = content(path);
    return new FileInfo(
        path,
        FileType.FILE,
        0644,
        content.length,
        0,
        0,
        "root",
        "root",
        Instant.EPOCH,
        Optional.empty());
  }

  private InputStream read(String path, ReadRange range) {
    byte[] content = content(path);
    int length = (int) Math.min(range.length(), content.length - range.offset());
    return new ByteArrayInputStream(content, (int) range.offset(), length);
  }

  private FileInfo write(String path, InputStream content) {
    try {
      files.put(path, content.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return stat(path);
  }

  private byte[] content(String path) {
    byte @Nullable [] content = files.get(path);
    if (content == null) {
      ErrorCode code =
          path.equals("destroyed") ? ErrorCode.SANDBOX_NOT_FOUND : ErrorCode.FILE_NOT_FOUND;
      throw Fault.of(code, "no " + path, "look elsewhere").exception();
    }
    return content;
  }
}
