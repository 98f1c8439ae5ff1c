package dev.isola.provider.microvm.qemu;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file that QEMU accepts as a kernel, for machines that continue: their kernel is in their memory
 * already, but QEMU reads the file on its command line at each start, and a real one has 50 MB.
 * With no kernel at all the machine would have other hardware.
 */
final class KernelStub {
  /** QEMU looks for other formats in so many bytes. */
  private static final int SIZE = 8192;

  private static final int HEADER = 64;
  private static final int PROGRAM_HEADER = 56;
  private static final short EXECUTABLE = 2;
  private static final short X86_64 = 62;
  private static final int LOADED = 1;
  private static final int NOTE = 4;

  /** The note with the 32-bit entry point. */
  private static final int PHYSICAL_ENTRY = 18;

  private static final int ADDRESS = 0x100_0000;
  private static final int NOTE_OFFSET = HEADER + 2 * PROGRAM_HEADER;
  private static final int NOTE_SIZE = 24;

  private KernelStub() {}

  /** Writes an ELF program for x86-64 with an empty segment and the note that QEMU requires. */
  static void write(Path target) throws IOException {
    ByteBuffer file = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
    file.put(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1}).position(16);
    file.putShort(EXECUTABLE).putShort(X86_64).putInt(1);
    file.putLong(ADDRESS).putLong(HEADER).putLong(0).putInt(0);
    file.putShort((short) HEADER).putShort((short) PROGRAM_HEADER).putShort((short) 2);
    file.position(HEADER);
    programHeader(file, LOADED, 0, SIZE);
    programHeader(file, NOTE, NOTE_OFFSET, NOTE_SIZE);
    file.putInt(4).putInt(8).putInt(PHYSICAL_ENTRY).put("Xen\0".getBytes(US_ASCII));
    file.putLong(ADDRESS);
    Files.write(target, file.array());
  }

  private static void programHeader(ByteBuffer file, int type, long offset, long size) {
    file.putInt(type).putInt(4).putLong(offset).putLong(ADDRESS + offset);
    file.putLong(ADDRESS + offset).putLong(size).putLong(size).putLong(4);
  }
}
