package dev.isola.provider.microvmctl;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The records of the sandboxes of an instance: one file each, readable by this user only. Records
 * of another instance in the same folder have other names.
 */
record VmRecords(Path folder, InstanceId instance) {

  Optional<VmRecord> find(SandboxId id) {
    try {
      return Optional.of(VmRecord.parse(Files.readString(file(id))));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  List<VmRecord> list() {
    List<VmRecord> records = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + suffix())) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        String id = name.substring(0, name.length() - suffix().length());
        if (SandboxId.isValid(id)) {
          find(new SandboxId(id)).ifPresent(records::add);
        }
      }
      return records;
    } catch (NoSuchFileException none) {
      return List.of();
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Writes a record to the disk, whole or not at all. */
  void write(VmRecord record) {
    try {
      Files.createDirectories(folder);
      Path draft = folder.resolve(record.id() + ".new");
      Files.deleteIfExists(draft);
      try (FileChannel out =
          FileChannel.open(
              draft,
              Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
        ByteBuffer text = StandardCharsets.UTF_8.encode(record.json());
        while (text.hasRemaining()) {
          out.write(text);
        }
        out.force(true);
      }
      Files.move(draft, file(record.id()), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  void remove(SandboxId id) {
    try {
      Files.deleteIfExists(file(id));
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private Path file(SandboxId id) {
    return folder.resolve(id + suffix());
  }

  private String suffix() {
    return "." + instance + ".json";
  }

  private SandboxException unusable(IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the folder " + folder + " cannot be used: " + e.getMessage(),
            "check its permissions and its disk")
        .exception(e);
  }
}
