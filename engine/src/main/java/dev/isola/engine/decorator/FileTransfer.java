package dev.isola.engine.decorator;

/** A kind of transfer between a client and the files of a sandbox. */
public enum FileTransfer {
  READ,
  WRITE,
  EXPORT,
  IMPORT
}
