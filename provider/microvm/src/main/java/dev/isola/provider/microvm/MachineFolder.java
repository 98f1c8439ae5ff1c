package dev.isola.provider.microvm;

import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Properties;
import java.util.Set;

/** What a machine has in the folder of its sandbox, and in the folder of a saved machine. */
public record MachineFolder(Path path) {
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  public static MachineFolder of(SandboxFolder folder) {
    return new MachineFolder(folder.path());
  }

  /** Returns the disk with the changed files. */
  public Path scratchDisk() {
    return path.resolve("scratch");
  }

  /** Returns the socket on which the hypervisor takes commands. */
  public Path controlSocket() {
    return path.resolve("control");
  }

  /** Returns the socket on which the server receives the machine's state. */
  public Path stateSocket() {
    return path.resolve("saving");
  }

  /** Returns the file with the state and the memory of a saved machine. */
  public Path state() {
    return path.resolve("state");
  }

  private Path bootRecord() {
    return path.resolve("boot");
  }

  private Path machine() {
    return path.resolve("machine");
  }

  /**
   * The machine of a sandbox, recorded because it is needed at each start.
   *
   * @param image the name of its image
   */
  public record Machine(MachineSize size, String image) {}

  /** Records the machine, and the boot record of its agent. */
  public void write(Machine machine, byte[] bootRecord) throws IOException {
    writeMachine(machine);
    Set<StandardOpenOption> options =
        Set.of(
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    try (SeekableByteChannel out = Files.newByteChannel(bootRecord(), options, OWNER_ONLY)) {
      out.write(ByteBuffer.wrap(bootRecord));
    }
  }

  /** Records the machine alone. */
  public void writeMachine(Machine machine) throws IOException {
    MachineSize size = machine.size();
    Files.write(
        machine(),
        List.of(
            "processors=" + size.processors(),
            "memoryMb=" + size.memoryMb(),
            "diskMb=" + size.diskMb(),
            "network=" + size.network(),
            "image=" + machine.image()));
  }

  /** Returns whether the machine was recorded. */
  public boolean exists() {
    return Files.exists(machine());
  }

  public Machine readMachine() throws IOException {
    Properties properties = new Properties();
    try (var in = Files.newBufferedReader(machine())) {
      properties.load(in);
    }
    try {
      return new Machine(
          new MachineSize(
              Integer.parseInt(properties.getProperty("processors")),
              Long.parseLong(properties.getProperty("memoryMb")),
              Long.parseLong(properties.getProperty("diskMb")),
              Boolean.parseBoolean(properties.getProperty("network"))),
          String.valueOf(properties.getProperty("image")));
    } catch (NumberFormatException e) {
      throw new IOException("the record of the machine is damaged: " + machine(), e);
    }
  }

  public byte[] readBootRecord() throws IOException {
    return Files.readAllBytes(bootRecord());
  }

  /** Removes the sockets of an earlier run, so that their existence means that QEMU runs. */
  public void removeSockets() throws IOException {
    Files.deleteIfExists(controlSocket());
    Files.deleteIfExists(stateSocket());
  }
}
