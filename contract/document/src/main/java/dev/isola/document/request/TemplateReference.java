package dev.isola.document.request;

/**
 * A template by name, with what of a spec has a default that cannot be told from the client's own.
 *
 * @param ownCpu whether the client gave a limit of processor time itself
 * @param ownMemory whether the client gave a limit of memory itself
 */
public record TemplateReference(String name, boolean ownCpu, boolean ownMemory) {
  /** A template all of whose limits are taken. */
  public static TemplateReference of(String name) {
    return new TemplateReference(name, false, false);
  }
}
