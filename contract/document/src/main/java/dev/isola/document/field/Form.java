package dev.isola.document.field;

import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * A form in which values are written.
 *
 * @param includes which fields it has
 * @param confidential what it has in place of values that may contain a secret
 */
public record Form(Predicate<Field<?, ?>> includes, UnaryOperator<Object> confidential) {
  /** The form in the ledger: everything but secrets. */
  public static final Form STORED = new Form(field -> !field.isSecret(), value -> value);

  /** The form for another machine that creates the sandbox: secrets too. */
  public static final Form BACKEND = new Form(Field::isForBackend, value -> value);

  /** Only secrets, and the objects that have them. */
  public static final Form SECRETS = new Form(Field::hasSecret, value -> value);

  /**
   * Returns the form in responses: everything but secrets.
   *
   * @param confidential what it has in place of values that may contain a secret
   */
  public static Form response(UnaryOperator<Object> confidential) {
    return new Form(STORED.includes(), confidential);
  }
}
