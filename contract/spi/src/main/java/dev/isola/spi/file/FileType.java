package dev.isola.spi.file;

/** What a path names. */
public enum FileType {
  FILE,
  FOLDER,
  LINK,
  /** A device, pipe or socket. */
  OTHER
}
