package dev.isola.spi.file;

/** The type of a file. */
public enum FileType {
  FILE,
  FOLDER,
  LINK,
  /** A device, pipe or socket. */
  OTHER
}
