"""What a model may do: tools, who may use which, and the yes of a person where one is needed. Runs no model."""
