function h = upload(gpu, A)
% The handle of a full or sparse matrix, in its class.
if issparse(A)
  h = MexSparseMatrix(gpu, A);
else
  h = MexMatrix(gpu, A);
end
end
